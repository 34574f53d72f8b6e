package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// blocked is an output without a reader.
type blocked struct{ ended <-chan struct{} }

func (b blocked) Write(p []byte) (int, error) {
	<-b.ended
	return len(p), nil
}

func TestLogWithoutAReaderHoldsUpNoRequest(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer backend.Close()
	file := filepath.Join(t.TempDir(), "weir.yaml")
	must.Do(t, os.WriteFile(file, fmt.Appendf(nil, `
listeners: [{address: "127.0.0.1:0"}]
admin: {address: none}
log: {access: true}
upstreams: {api: {addresses: [%q]}}
compartments: {api: {}}
routes: [{upstream: api, compartment: api}]
`, backend.URL), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, to := io.Pipe()
	read := make(chan struct{})
	defer close(read)
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"proxy", "--config", file}, to, blocked{read}) }()
	address := firstAddress(t, out)
	client := http.Client{Timeout: 20 * time.Second}
	for range 3 {
		answer := must.Have(client.Get("http://" + address))(t)
		answer.Body.Close()
	}
	stop()
	go io.Copy(io.Discard, out)
	must.Do(t, <-ended)
}

// firstAddress returns the address in the first line of weir proxy.
func firstAddress(t *testing.T, out io.Reader) string {
	t.Helper()
	line := make([]byte, 256)
	n := must.Have(out.Read(line))(t)
	text := strings.TrimSpace(string(line[:n]))
	return text[strings.LastIndex(text, " ")+1:]
}
