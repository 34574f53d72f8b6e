package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// Two proxies, each a process with its companion, never have more than their shared cap of 20 at
// one upstream: while they start, while a companion is killed, without NATS, when the proxy that
// allocates is killed with requests in flight, and when another reloads and stops.
func TestTwoProxiesShareACap(t *testing.T) {
	longtest.Skip(t)
	bin := build(t)
	upstream, most := meters(t)
	nats, stopNATS := serveNATS(t, server.Options{Port: -1, Authorization: token})
	config := fmt.Sprintf(`
listeners: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
upstreams: {api: {addresses: [%q]}}
compartments: {api: {law: fixed(limit=100), queue: {size: 0}}}
log: {decisions: false}
fleet: {name: shop, store: "nats://%s", credentials: %s, cap: 20, refresh: 100ms, ttl: 2s, grace: 300ms}
`, upstream, nats, fileOf(t, "token", token+"\n"))
	a, b := startProxy(t, bin, config), startProxy(t, bin, config)
	defer load(t, a, b)()
	keepsCap := func(text string) {
		t.Helper()
		if n := most.Swap(0); n > 20 {
			t.Errorf("%s: %d requests at once at the upstream, of a cap of 20", text, n)
		}
	}
	least := int64(10)
	busy := func(text string, is func() bool) {
		t.Helper()
		must.Happen(t, text, is)
		keepsCap("until " + text)
		must.Happen(t, fmt.Sprintf("%d of the cap are used", least), func() bool { return most.Load() >= least })
		t.Logf("%s: up to %d at once", text, most.Load())
	}
	busy("both have a share", func() bool { return a.fleet().Share > 5 && b.fleet().Share > 5 })
	if f := a.fleet(); f.Members != 2 || f.Allocator == "" || f.Epoch == 0 || f.Cap != 20 {
		t.Errorf("the figures are %+v", f)
	}

	kill(t, a.companion(t))
	busy("its companion is killed", func() bool { return strings.Contains(a.log.String(), "weir-fleet has ended and is started again") })
	busy("another companion works", func() bool { f := a.fleet(); return f.Leased && f.Error == "" })

	reload := strings.Replace(config, "limit=100", "limit=90", 1)
	must.Do(t, os.WriteFile(a.file, []byte(reload), 0o600))
	busy("it has reloaded", func() bool { return strings.Contains(a.log.String(), "configuration applied") })

	if a.fleet().Allocates {
		a, b = b, a
	}
	kill(t, b.cmd.Process.Pid)
	_ = b.cmd.Wait()
	c := startProxy(t, bin, config)
	least = 5 // the other keeps half of the cap in case that it lives
	defer load(t, c)()
	busy("the allocator is killed, and a new proxy has a share", func() bool { return c.fleet().Share >= 4 })
	stopNATS()
	busy("NATS has stopped", func() bool { return !a.fleet().Leased && !c.fleet().Leased })
	if f := a.fleet(); f.Share+c.fleet().Share > 20 || f.Error == "" {
		t.Errorf("without NATS: %+v, %+v", f, c.fleet())
	}
	companion := a.companion(t)
	must.Do(t, a.cmd.Process.Signal(syscall.SIGTERM))
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("stopped: %v\n%s", err, &a.log)
	}
	must.Happen(t, "its companion has ended", func() bool { return syscall.Kill(companion, 0) != nil })
	keepsCap("at the end")
}

func build(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"weir", "weir-fleet"} {
		if said, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "github.com/weir-go/weir/cmd/"+name).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	return dir
}

// meters counts the requests that an upstream has at once.
func meters(t *testing.T) (address string, most *atomic.Int64) {
	var now atomic.Int64
	most = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, most
}

type proxy struct {
	cmd            *exec.Cmd
	file           string
	address, admin string
	log            locked.Buffer
}

var addresses = regexp.MustCompile(`(?s)limiting .* on (\S+)\n.*state on http://([^/]+)/`)

func startProxy(t *testing.T, bin, config string) *proxy {
	t.Helper()
	p := &proxy{file: fileOf(t, "weir.yaml", config)}
	var out locked.Buffer
	p.cmd = exec.Command(filepath.Join(bin, "weir"), "proxy", "--config", p.file)
	p.cmd.Stdout, p.cmd.Stderr = &out, &p.log
	must.Do(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("the log of %s:\n%s", p.address, &p.log)
		}
	})
	must.Happen(t, "the proxy serves", func() bool {
		if found := addresses.FindStringSubmatch(out.String()); found != nil {
			p.address, p.admin = found[1], found[2]
		}
		return p.admin != ""
	})
	return p
}

type membership struct {
	Cap, Members, Share int
	Leased              bool
	Allocator           string
	Allocates           bool
	Epoch               uint64
	Error               string
}

func (p *proxy) fleet() membership {
	answer, err := http.Get("http://" + p.admin + "/-/weir/snapshot")
	if err != nil {
		return membership{}
	}
	defer answer.Body.Close()
	var s struct{ Fleet membership }
	_ = json.NewDecoder(answer.Body).Decode(&s) // of a proxy that is killed
	return s.Fleet
}

func (p *proxy) companion(t *testing.T) int {
	t.Helper()
	var children []byte
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid))
	for _, task := range tasks { // of each thread
		more, _ := os.ReadFile(task)
		children = append(children, more...)
	}
	pid, err := strconv.Atoi(strings.Fields(string(children) + " none")[0])
	if err != nil {
		t.Fatalf("no companion: %v, %q", err, children)
	}
	return pid
}

func kill(t *testing.T, pid int) {
	t.Helper()
	must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
}

func load(t *testing.T, proxies ...*proxy) (stop func()) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var all sync.WaitGroup
	ended := make(chan struct{})
	for _, p := range proxies {
		for range 16 {
			all.Go(func() {
				for {
					pause := time.Duration(0)
					answer, err := client.Get("http://" + p.address)
					if err == nil {
						answer.Body.Close()
					}
					if err != nil || answer.StatusCode != http.StatusOK {
						pause = 2 * time.Millisecond
					}
					select {
					case <-ended:
						return
					case <-time.After(pause):
					}
				}
			})
		}
	}
	return func() { close(ended); all.Wait(); client.CloseIdleConnections() }
}
