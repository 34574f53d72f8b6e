package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is a proxy started as from the command line, on its own addresses.
type running struct {
	t       *testing.T
	address string
	admin   string
	stop    context.CancelFunc
	ended   chan error
}

// startProxy runs "weir proxy" in front of the backend until the test ends.
func startProxy(t *testing.T, backend string, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	p := &running{t: t, stop: stop, ended: make(chan error, 1)}
	args = append([]string{"proxy", "--to", backend, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
	go func() {
		p.ended <- run(ctx, args, environmentOf(""), in, io.Discard)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	for p.admin == "" {
		if !lines.Scan() {
			t.Fatalf("the proxy did not start: %v", <-p.ended)
		}
		if _, address, found := strings.Cut(lines.Text(), " on http://"); found {
			p.admin = strings.TrimSuffix(address, "/-/weir/snapshot")
		} else if _, address, found := strings.Cut(lines.Text(), " on "); found {
			p.address = address
		}
	}
	drained := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, out); close(drained) }()
	t.Cleanup(func() { stop(); <-drained })
	return p
}

// wait returns the result of the proxy. It fails the test if the proxy does not end.
func (p *running) wait() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(10 * time.Second):
		p.t.Fatal("the proxy does not end")
		return nil
	}
}

// state holds the fields of the snapshot that the tests read.
type state struct {
	InFlight  int            `json:"in_flight"`
	Completed int            `json:"completed"`
	Failed    int            `json:"failed"`
	TimedOut  int            `json:"timed_out"`
	Refused   map[string]int `json:"refused"`
}

func (p *running) state() (s state) {
	p.t.Helper()
	status, body := p.get(p.admin, "/-/weir/snapshot")
	if err := json.Unmarshal([]byte(body), &s); status != http.StatusOK || err != nil {
		p.t.Fatalf("snapshot: %d %v\n%s", status, err, body)
	}
	return s
}

// until polls the snapshot until wanted returns true.
func (p *running) until(what string, wanted func(state) bool) {
	p.t.Helper()
	eventually(p.t, what, func() bool { return wanted(p.state()) })
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// get sends a request to one of the proxy's addresses on a new connection.
func (p *running) get(address, path string) (status int, body string) {
	p.t.Helper()
	answer, err := p.ask(context.Background(), address, path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}

func (p *running) ask(ctx context.Context, address, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	request.Close = true
	return http.DefaultClient.Do(request)
}

// holding is a backend that holds requests to /hold until release. It answers other requests
// at once.
func holding(t *testing.T) (url string, release func()) {
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			select {
			case <-released:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, "answer")
	}))
	t.Cleanup(func() { release(); backend.Close() })
	return backend.URL, release
}
