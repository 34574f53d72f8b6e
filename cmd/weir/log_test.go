package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// proxyThatLogs is the command of a proxy that logs each request.
func proxyThatLogs(t *testing.T) []string {
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(backend.Close)
	file := filepath.Join(t.TempDir(), "weir.yaml")
	must.Do(t, os.WriteFile(file, fmt.Appendf(nil, `
listeners: [{address: "127.0.0.1:0"}]
admin: {address: none}
log: {access: true}
upstreams: {api: {addresses: [%q]}}
`, backend.URL), 0o600))
	return []string{"proxy", "--config", file}
}

func get(t *testing.T, address string) {
	t.Helper()
	client := http.Client{Timeout: 20 * time.Second}
	for range 3 {
		answer := must.Have(client.Get("http://" + address))(t)
		answer.Body.Close()
	}
}

// A reader of the log that has ended, such as one that ships it elsewhere, does not end the proxy.
func TestLogWhoseReaderEndsEndsNoProxy(t *testing.T) {
	proxy := exec.Command(must.Have(os.Executable())(t))
	proxy.Args = append([]string{"weir"}, proxyThatLogs(t)...)
	log := must.Have(proxy.StderrPipe())(t)
	out := must.Have(proxy.StdoutPipe())(t)
	must.Do(t, proxy.Start())
	defer proxy.Process.Kill()
	line := must.Have(bufio.NewReader(out).ReadString('\n'))(t)
	address := strings.TrimSpace(line[strings.LastIndex(line, " "):])
	must.Do(t, log.Close())
	get(t, address)
	must.Do(t, out.Close())
	must.Do(t, proxy.Process.Signal(os.Interrupt))
	if err := proxy.Wait(); err != nil {
		t.Errorf("%v, want status 0", err)
	}
}
