package main

import (
	"context"
	"errors"
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
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func TestCompanionThatIsNotInstalled(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	installed(t, "other", "")
	if err := os.WriteFile("weir-work", []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it could be run
		t.Fatal(err)
	}
	t.Setenv("PATH", "."+string(filepath.ListSeparator)+t.TempDir())
	status, printed, said := ran(t, nil, "jobs", "--stream", "orders")
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
		ended <- run(ctx, []string{"jobs", "--stream", "orders"}, environmentOf(""), in, io.Discard)
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

// TestJobsAreForACommandOfItsOwn: it gets the flags, with their defaults and variables, in the
// environment, where other users of the machine see no credentials.
func TestJobsAreForACommandOfItsOwn(t *testing.T) {
	installed(t, "weir-work", `echo "$#"; echo "$WEIR_WORK_REQUEST"; exit 3`)
	const queue = `"Stream":"orders","Nats":"nats://u:p@h","Creds":"","Embedded":""`
	for command, want := range map[string]string{
		"work --timeout 0 -- ./handle --all -x": `{"Work":{` + queue + `,"Max":100,"Timeout":0,"Grace":10000000000,"Attempts":10,"Backoff":10000000000,"Open":false,"Command":["./handle","--all","-x"]}}`,
		"enqueue a b":                           `{"Enqueue":{` + queue + `,"Lines":false,"Payload":["a","b"]}}`,
		"jobs":                                  `{"Jobs":{` + queue + `,"Limit":10}}`,
		"jobs requeue 7":                        `{"Requeue":{` + queue + `,"All":false,"ID":["7"]}}`,
	} {
		status, printed, said := ran(t, environ{"WEIR_NATS=nats://u:p@h", "WEIR_STREAM=orders"}, strings.Fields(command)...)
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
