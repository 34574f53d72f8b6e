package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/must"
)

// running is a proxy that serves until the test ends.
type running struct {
	*Proxy
	t       *testing.T
	address string // of its first listener
	admin   string
	stop    context.CancelFunc
	ended   chan error
	said    *locked.Buffer // its log

	mu   sync.Mutex
	file string // read by a reload
}

var discard = slog.New(slog.DiscardHandler)

const addresses = `
listeners: [{address: "127.0.0.1:0"}]
admin: {address: "127.0.0.1:0"}
`

// start runs a proxy with the addresses for tests and the rest of a file.
func start(t *testing.T, file string) *running {
	t.Helper()
	return startAt(t, addresses+file)
}

// startAt runs a proxy with a whole file.
func startAt(t *testing.T, file string) *running {
	t.Helper()
	return startIn(t, file, nil)
}

// startIn runs a proxy of a fleet with a whole file.
func startIn(t *testing.T, file string, store fleet.Store) *running {
	t.Helper()
	r := &running{t: t, ended: make(chan error, 1), said: new(locked.Buffer)}
	r.write(file)
	c := must.Have(r.parse())(t)
	r.Proxy = must.Have(New(c, Options{Log: slog.New(slog.NewTextHandler(r.said, nil)), Read: r.parse, Store: store}))(t)
	listeners, operators := r.Addresses()
	r.address, r.admin = listeners[0].String(), operators[0].String()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- r.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-done })
	return r
}

func (r *running) write(file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file = file
}

func (r *running) parse() (*config.Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return config.Parse("weir.yaml", []byte(r.file))
}

// reload applies another file.
func (r *running) reload(file string) error {
	r.write(addresses + file)
	return r.Reload()
}

func (r *running) get(path string) (status int, body string) {
	r.t.Helper()
	return r.fetch(r.address + path)
}

func (r *running) fetch(url string) (status int, body string) {
	r.t.Helper()
	answer := must.Have(http.Get("http://" + url))(r.t)
	defer answer.Body.Close()
	text := must.Have(io.ReadAll(answer.Body))(r.t)
	return answer.StatusCode, string(text)
}

// refusesConnections waits until the proxy takes no more connections.
func (r *running) refusesConnections() {
	r.t.Helper()
	must.Happen(r.t, "it takes no more connections", func() bool {
		conn, err := net.Dial("tcp", r.address)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

// metrics returns the page that Prometheus scrapes.
func (r *running) metrics() string {
	r.t.Helper()
	_, text := r.fetch(r.admin + "/metrics")
	return text
}

// state returns the state served by the admin address.
func (r *running) state() (s map[string]any) {
	r.t.Helper()
	if _, text := r.fetch(r.admin + "/-/weir/snapshot"); json.Unmarshal([]byte(text), &s) != nil {
		r.t.Fatal(text)
	}
	return s
}

// named starts an upstream that answers with its name, and /hold once it is released.
func named(t *testing.T, name string) (address string, release func()) {
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			<-released
		}
		fmt.Fprint(w, name)
	}))
	t.Cleanup(func() { release(); server.Close() })
	return server.URL, release
}
