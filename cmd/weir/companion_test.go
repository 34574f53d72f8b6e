package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// installed puts a shell script on the PATH in place of a companion.
func installed(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700)) //nolint:gosec // it is run
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func TestCompanionThatIsNotInstalled(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	installed(t, "other", "")
	must.Do(t, os.WriteFile("weir-work", []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // it could be run
	t.Setenv("PATH", "."+string(filepath.ListSeparator)+t.TempDir())
	status, printed, said := ran(t, "jobs", "--stream", "orders")
	const want = "weir: weir-work is not installed: want it beside weir or on the PATH: " +
		"go install github.com/weir-go/weir/cmd/weir-work@latest, or in a checkout: scripts/all go install ./cmd/weir-work\n"
	if status != 1 || said != want || printed != "" {
		t.Errorf("status %d, want 1; %s%s, want %s", status, printed, said, want)
	}
}

func TestInterruptReachesTheCompanion(t *testing.T) {
	installed(t, "weir-work", `trap 'kill $!; echo compared; exit 0' INT; sleep 60 >/dev/null 2>&1 & echo started; wait`)
	ctx, interrupt := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"jobs", "--stream", "orders"}, in, io.Discard)
		in.Close()
	}()
	first := make([]byte, len("started\n"))
	must.Have(io.ReadFull(out, first))(t)
	interrupt()
	if rest, err := io.ReadAll(out); err != nil || string(rest) != "compared\n" {
		t.Errorf("after the interrupt: %q, %v", rest, err)
	}
	<-ended
}

// TestJobsAreForACommandOfItsOwn: it gets the flags, with their defaults, in the environment, where
// other users of the machine see no credentials.
func TestJobsAreForACommandOfItsOwn(t *testing.T) {
	installed(t, "weir-work", `echo "$#"; echo "$WEIR_REQUEST"; exit 3`)
	const queue = `"Stream":"orders","Nats":"nats://u:p@h","Creds":"","Embedded":""`
	for command, want := range map[string]string{
		"work --stream orders --nats nats://u:p@h --timeout 0 -- ./handle --all -x": `{"Work":{` + queue + `,"Max":100,"Timeout":0,"Grace":10000000000,"Attempts":10,"Backoff":10000000000,"Open":false,"Command":["./handle","--all","-x"]}}`,
		"enqueue --stream orders --nats nats://u:p@h a b":                           `{"Enqueue":{` + queue + `,"Lines":false,"Payload":["a","b"]}}`,
		"jobs --stream orders --nats nats://u:p@h":                                  `{"Jobs":{` + queue + `,"Limit":10}}`,
		"jobs requeue --stream orders --nats nats://u:p@h 7":                        `{"Requeue":{` + queue + `,"All":false,"ID":[7]}}`,
	} {
		status, printed, said := ran(t, strings.Fields(command)...)
		if status != 3 || printed+said != "0\n"+want+"\n" {
			t.Errorf("%s: status %d, want that of weir-work: 3; got %s%s want %s", command, status, printed, said, want)
		}
	}
}

// TestWeirBecomesTheCompanion: there is one process, which gets each signal once.
func TestWeirBecomesTheCompanion(t *testing.T) {
	installed(t, "weir-work", `echo "$PPID"; exit 3`)
	self := must.Have(os.Executable())(t)
	weir := exec.Command(self)
	weir.Args = []string{"weir", "jobs", "--stream", "orders"}
	said, err := weir.Output()
	if ended := new(exec.ExitError); !errors.As(err, &ended) || ended.ExitCode() != 3 {
		t.Errorf("%v, want the status of weir-work: 3", err)
	}
	if got, want := strings.TrimSpace(string(said)), strconv.Itoa(os.Getpid()); got != want {
		t.Errorf("the parent of weir-work is process %s, want %s, that of weir", got, want)
	}
}

func fleetFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "weir.yaml")
	const text = `
listeners: [{address: "127.0.0.1:0"}]
admin: {address: none}
upstreams: {api: {addresses: ["http://127.0.0.1:1"]}}
shutdown: {grace: 0s}
fleet: {name: shop, store: "nats://127.0.0.1:1", credentials: %s, cap: 20, tls: {server_name: nats}}
`
	must.Write(t, file, fmt.Sprintf(text, os.Args[0]))
	return file
}

func TestFleetWithoutItsCompanion(t *testing.T) {
	file := fleetFile(t)
	t.Setenv("PATH", t.TempDir())
	if status, _, said := ran(t, "proxy", "--config", file); status != 1 || !strings.HasPrefix(said, "weir: weir-fleet is not installed: want it beside weir or on the PATH") {
		t.Errorf("status %d, %s", status, said)
	}
}

// A companion that ends is started again, with the settings of the file, until the proxy ends. Then
// its input ends, and the proxy waits for it.
func TestCompanionIsStartedAgain(t *testing.T) {
	file := fleetFile(t)
	said := filepath.Join(t.TempDir(), "said")
	installed(t, "weir-fleet", fmt.Sprintf(`echo "$# $WEIR_REQUEST" >>%s; [ $(wc -l <%[1]s) = 2 ] && { cat >/dev/null; echo ended >>%[1]s; }; exit 3`, said))
	lines := func() []string {
		text, _ := os.ReadFile(said) // not there before the first start
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	log := must.Have(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer log.Close()
	stop := begin(t, log, log, "proxy", "--config", file)
	must.Happen(t, "it is started again", func() bool { return len(lines()) == 2 })
	stop()
	want := `0 {"Fleet":{"Name":"shop","Store":"nats://127.0.0.1:1","Credentials":"` + os.Args[0] +
		`","CA":"","Certificate":"","Key":"","ServerName":"nats","Replicas":1,"Refresh":1000000000}}`
	if got := lines(); len(got) != 3 || got[0] != want || got[1] != want || got[2] != "ended" {
		t.Errorf("the companion says %q", got)
	}
	text := string(must.Have(os.ReadFile(log.Name()))(t))
	for _, want := range []string{`"weir-fleet has ended and is started again","error":"exit status 3"`, "weir: limiting by " + file + " on "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the log:\n%s", want, text)
		}
	}
}
