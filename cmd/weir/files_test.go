//go:build unix

package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// TestFewFilesAreLeftToUpstreams: a client that the proxy accepts gets an answer.
func TestFewFilesAreLeftToUpstreams(t *testing.T) {
	var running atomic.Int64
	release := make(chan struct{})
	answer := sync.OnceFunc(func() { close(release) })
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		running.Add(1)
		<-release
	}))
	defer backend.Close()
	defer answer() // a test that fails would wait for the backend
	weir := filepath.Join(t.TempDir(), "weir")
	must.Do(t, os.Symlink(must.Have(os.Executable())(t), weir))
	proxy := exec.Command("sh", "-c", `ulimit -n 120; exec "$@"`, "sh", weir, "proxy", "--to", backend.URL,
		"--listen", "127.0.0.1:0", "--admin", "", "--law", "fixed(limit=1000)")
	out := must.Have(proxy.StdoutPipe())(t)
	must.Do(t, proxy.Start())
	defer proxy.Wait()
	defer proxy.Process.Kill()
	line := must.Have(bufio.NewReader(out).ReadString('\n'))(t)
	address := strings.TrimSpace(line[strings.LastIndex(line, " "):])

	answers := make([]*bufio.Reader, 200)
	for i := range answers {
		conn := must.Have(net.Dial("tcp", address))(t)
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		answers[i] = bufio.NewReader(conn)
	}
	must.Happen(t, "the upstream is at work", func() bool { return running.Load() >= 10 })
	answer()
	answered := 0
	for _, from := range answers {
		response, err := http.ReadResponse(from, nil)
		if err != nil {
			continue // closed at once
		}
		response.Body.Close()
		if answered++; response.StatusCode != http.StatusOK {
			t.Fatalf("status %d", response.StatusCode)
		}
	}
	if answered < 40 {
		t.Errorf("%d of 200 are answered, want 40 or more", answered)
	}
}
