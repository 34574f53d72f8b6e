package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// fleetFile writes the configuration of a proxy in a fleet.
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
	must.Do(t, os.WriteFile(file, fmt.Appendf(nil, text, os.Args[0]), 0o600))
	return file
}

func TestFleetWithoutItsCompanion(t *testing.T) {
	file := fleetFile(t)
	t.Setenv("PATH", t.TempDir())
	if status, _, said := ran(t, nil, "proxy", "--config", file); status != 1 || !strings.HasPrefix(said, "weir: weir-fleet is not installed: want it beside weir or on the PATH") {
		t.Errorf("status %d, %s", status, said)
	}
}

// A companion that ends is started again, with the settings of the file, until the proxy ends. Then
// its input ends, and the proxy waits for it.
func TestCompanionIsStartedAgain(t *testing.T) {
	file := fleetFile(t)
	said := filepath.Join(t.TempDir(), "said")
	installed(t, "weir-fleet", fmt.Sprintf(`echo "$@" >>%s; [ $(wc -l <%[1]s) = 2 ] && { cat >/dev/null; echo ended >>%[1]s; }; exit 3`, said))
	lines := func() []string {
		text, _ := os.ReadFile(said) // not there before the first start
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	ctx, stop := context.WithCancel(t.Context())
	log := must.Have(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer log.Close()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"proxy", "--config", file}, environmentOf(""), log, log) }()
	must.Happen(t, "it is started again", func() bool { return len(lines()) == 2 })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	want := "-name shop -store nats://127.0.0.1:1 -replicas 1 -refresh 1s -credentials " + os.Args[0] + " -server-name nats"
	if got := lines(); len(got) != 3 || got[0] != want || got[1] != want || got[2] != "ended" {
		t.Errorf("the companion says %q", got)
	}
	text, err := os.ReadFile(log.Name())
	if err != nil || !strings.Contains(string(text), `"weir-fleet has ended and is started again","error":"exit status 3"`) {
		t.Errorf("%v; the log has\n%s", err, text)
	}
}
