package listen

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

func TestProtocols(t *testing.T) {
	h1 := client(t, (*http.Protocols).SetHTTP1)
	h2c := client(t, (*http.Protocols).SetUnencryptedHTTP2)
	for name, test := range map[string]struct {
		protocols      []string
		speak1, speak2 bool
	}{
		"both by default": {nil, true, true},
		"http1":           {[]string{"http1"}, true, false},
		"http2":           {[]string{"http2"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, hello, func(c *config.Listener) { c.Protocols = test.protocols })
			defer h1.CloseIdleConnections()
			defer h2c.CloseIdleConnections()
			if status, _, proto := fetch(t, h1, "http://"+l.Addr().String()); (status == http.StatusOK && proto == "HTTP/1.1") != test.speak1 {
				t.Errorf("HTTP/1.1: status %d by %q", status, proto)
			}
			if status, _, proto := fetch(t, h2c, "http://"+l.Addr().String()); (status == http.StatusOK && proto == "HTTP/2.0") != test.speak2 {
				t.Errorf("HTTP/2: status %d by %q", status, proto)
			}
		})
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	abandon := must.Have(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
	abandon.SetUnlinkOnClose(false)
	abandon.Close()
	onPath := func(c *config.Listener) { c.Address = "unix:" + path; c.MaxConnectionsPerAddress = 1 }
	l := start(t, hello, onPath)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v; want mode 0660", info.Mode(), err)
	}
	for range 2 { // no address, so no cap on it
		_, answers := dial(t, l, get)
		if status, _ := answer(t, answers); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if _, err := New(settings(onPath), http.NotFoundHandler(), slog.Default()); err == nil {
		t.Error("took the socket of a process that lives")
	}
	l.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is left")
	}
	must.Do(t, os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := New(settings(onPath), http.NotFoundHandler(), slog.Default()); err == nil {
		t.Error("took the place of a file")
	}
}

func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	l := start(t, hello, func(c *config.Listener) { c.HeaderTimeout = short })
	for _, part := range []string{"", "GET ", "GET / HTTP/1.1\r\nHost: h\r\n", "PRI * HTTP/2.0\r\n"} {
		_, answers := dial(t, l, part)
		if status, _ := answer(t, answers); status != 0 && status != http.StatusBadRequest {
			t.Errorf("after %q: status %d", part, status)
		}
	}
	must.Happen(t, "all are closed", func() bool { return l.Counts().Open == 0 })
}

func TestIdleTimeout(t *testing.T) {
	l := start(t, hello, func(c *config.Listener) { c.IdleTimeout = short })
	_, answers := dial(t, l, get)
	answer(t, answers)
	if _, err := answers.ReadByte(); err != io.EOF {
		t.Errorf("%v, want the connection closed", err)
	}
}

func TestLongHeaders(t *testing.T) {
	t.Parallel()
	l := start(t, hello, func(c *config.Listener) { c.MaxHeader = 10 << 10 })
	_, answers := dial(t, l, "GET / HTTP/1.1\r\nHost: h\r\nX: "+strings.Repeat("x", 20<<10)+"\r\n\r\n")
	if status, _ := answer(t, answers); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d, want 431", status)
	}
	_, answers = dial(t, l, "GET / HTTP/1.1\r\nHost: h\r\nX: "+strings.Repeat("x", 8<<10)+"\r\n\r\n")
	if status, _ := answer(t, answers); status != http.StatusOK {
		t.Errorf("shorter ones: status %d", status)
	}
}

func TestShutdownAnswersWhatRuns(t *testing.T) {
	for name, protocol := range versions {
		t.Run(name, func(t *testing.T) {
			running, release := make(chan struct{}), make(chan struct{})
			l := start(t, func(w http.ResponseWriter, r *http.Request) {
				close(running)
				<-release
				hello(w, r)
			}, nil)
			c := client(t, protocol)
			answered := make(chan string, 1)
			go func() {
				_, body, _ := fetch(t, c, "http://"+l.Addr().String())
				answered <- body
			}()
			<-running
			down := make(chan error, 1)
			go func() { down <- l.Shutdown(context.Background()) }()
			must.Happen(t, "no connection is taken", func() bool {
				conn, err := net.Dial("tcp", l.Addr().String())
				if err == nil {
					conn.Close()
				}
				return err != nil
			})
			close(release)
			if body := <-answered; body != "hello" {
				t.Errorf("answered %q", body)
			}
			if err := <-down; err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		})
	}
}

func TestCloseEndsRequests(t *testing.T) {
	running, ended := make(chan struct{}), make(chan struct{})
	l := start(t, func(_ http.ResponseWriter, r *http.Request) {
		close(running)
		<-r.Context().Done()
		close(ended)
	}, nil)
	dial(t, l, get)
	<-running
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(short))
	defer cancel()
	if err := l.Shutdown(ctx); err == nil {
		t.Error("Shutdown did not wait")
	}
	l.Close()
	<-ended
}

func TestPanicIsLogged(t *testing.T) {
	var text bytes.Buffer
	l := startLogging(t, slog.New(slog.NewTextHandler(&text, nil)), func(http.ResponseWriter, *http.Request) { panic("broken") }, nil)
	_, answers := dial(t, l, get)
	if status, _ := answer(t, answers); status != 0 {
		t.Errorf("status %d", status)
	}
	must.Happen(t, "the connection is closed", func() bool { return l.Counts().Open == 0 })
	if !strings.Contains(text.String(), "panic serving") {
		t.Errorf("logged %q", text.String())
	}
}
