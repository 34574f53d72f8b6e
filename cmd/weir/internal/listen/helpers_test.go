package listen

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// short is a time limit that a test waits for.
const short = config.Duration(60 * time.Millisecond)

// TestMain checks for goroutines that the tests have leaked.
func TestMain(m *testing.M) {
	// The engine of fuzz tests listens to signals, for which a goroutine stays.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	before, status := runtime.NumGoroutine(), m.Run()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			os.Exit(1)
		}
	}
	os.Exit(status)
}

// start serves on a free port until the test ends. Settings that change leaves alone are
// generous.
func start(t testing.TB, next http.HandlerFunc, change func(*config.Listener)) *Listener {
	t.Helper()
	return startLogging(t, slog.New(slog.DiscardHandler), next, change)
}

func startLogging(t testing.TB, log *slog.Logger, next http.HandlerFunc, change func(*config.Listener)) *Listener {
	t.Helper()
	l := must.Have(New(settings(change), next, log))(t)
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		must.Happen(t, "no connection is counted", func() bool { return l.Counts().Open == 0 })
	})
	return l
}

func settings(change func(*config.Listener)) config.Listener {
	minute := config.Duration(time.Minute)
	c := config.Listener{
		Address: "127.0.0.1:0", HeaderTimeout: minute, BodyTimeout: minute, IdleTimeout: minute,
		MaxConnections: 10000, MaxHeader: 64 << 10, MaxStreams: 100, MaxResets: 1000,
	}
	if change != nil {
		change(&c)
	}
	return c
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func dial(t testing.TB, l *Listener, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c := must.Have(net.Dial(l.Addr().Network(), l.Addr().String()))(t)
	t.Cleanup(func() { c.Close() })
	must.Do(t, c.SetDeadline(time.Now().Add(time.Minute)))
	must.Have(io.WriteString(c, text))(t)
	return c, bufio.NewReader(c)
}

const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

// answer reads a response; status 0 means the connection was closed without one.
func answer(t testing.TB, from *bufio.Reader) (status int, body string) {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			t.Fatal("no answer in a minute")
		}
		return 0, ""
	}
	text := must.Have(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(text)
}

// versions are the protocols of a client.
var versions = map[string]func(*http.Protocols, bool){"h1": (*http.Protocols).SetHTTP1, "h2": (*http.Protocols).SetUnencryptedHTTP2}

func client(t testing.TB, protocol func(*http.Protocols, bool)) *http.Client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	protocol(transport.Protocols, true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}
}

func fetch(t testing.TB, c *http.Client, url string) (status int, body, proto string) {
	t.Helper()
	request := must.Have(http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil))(t)
	response, err := c.Do(request)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error(), ""
	}
	return response.StatusCode, string(text), response.Proto
}

func after(limit config.Duration, ended <-chan struct{}) {
	select {
	case <-time.After(time.Duration(limit)):
	case <-ended:
	}
}
