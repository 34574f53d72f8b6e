package main

import (
	"bufio"
	"bytes"
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

// running is a proxy started as the command line would, on addresses of its own.
type running struct {
	t       *testing.T
	address string
	admin   string
	stop    context.CancelFunc
	ended   chan error
	stderr  *lockedBuffer

	mu    sync.Mutex
	lines []string // of the output
}

// startProxy runs "weir proxy" in front of the backend until the test ends.
func startProxy(t *testing.T, backend string, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	p := &running{t: t, stop: stop, ended: make(chan error, 1), stderr: new(lockedBuffer)}
	args = append([]string{"proxy", "--to", backend, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
	go func() {
		p.ended <- run(ctx, args, environmentOf(""), in, p.stderr)
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
	go func() {
		defer close(drained)
		for lines.Scan() {
			p.mu.Lock()
			p.lines = append(p.lines, lines.Text())
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() { stop(); <-drained })
	return p
}

// output returns the lines printed since the start.
func (p *running) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// wait stops the test if the proxy does not end, and returns how it ended.
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

// state is what the tests read of the snapshot.
type state struct {
	InFlight  int            `json:"in_flight"`
	Admitted  int            `json:"admitted"`
	Completed int            `json:"completed"`
	Succeeded int            `json:"succeeded"`
	Failed    int            `json:"failed"`
	TimedOut  int            `json:"timed_out"`
	Ignored   int            `json:"ignored"`
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

// until polls the snapshot until it is as wanted.
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

// get asks one of the proxy's addresses on a connection of its own.
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

// holding is a backend whose requests to /hold wait for release; all others
// are answered at once, /empty without a body.
func holding(t *testing.T) (url string, release func()) {
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hold":
			select {
			case <-released:
			case <-r.Context().Done():
				return
			}
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = io.WriteString(w, "answer")
	}))
	t.Cleanup(func() { release(); backend.Close() })
	return backend.URL, release
}

// lockedBuffer is a buffer for several writers.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
