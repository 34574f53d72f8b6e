package main

import (
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A flood of sockets that send nothing, or a part of a request, closes sockets of its own, and a
// client is served.
func TestQuietSocketsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tcptest.NewPipes()
		web := webOf(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
		go func() { _ = web.Serve(p) }()
		const more = 10
		var closed atomic.Int64
		for i := range mostQuiet + more {
			c := must.Have(p.Dial(t.Context()))(t)
			if i%2 == 0 {
				must.Have(c.Write([]byte("GET / HTTP/1.1\r\nX: ")))(t)
				synctest.Wait()
			}
			go func() {
				_, _ = c.Read(make([]byte, 1))
				closed.Add(1)
			}()
		}
		synctest.Wait()
		if n := closed.Load(); n != more {
			t.Errorf("%d of %d sockets are closed, want %d", n, mostQuiet+more, more)
		}
		client := must.Have(p.Dial(t.Context()))(t)
		must.Have(client.Write([]byte("GET / HTTP/1.1\r\nHost: relay\r\n\r\n")))(t)
		answer := make([]byte, 100)
		if n, err := client.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 404 ") {
			t.Errorf("%q, %v", answer[:n], err)
		}
		client.Close()
		must.Do(t, web.Close())
	})
}

// A part of a request takes little memory.
func TestHeadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tcptest.NewPipes()
		web := webOf(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
		go func() { _ = web.Serve(p) }()
		c := must.Have(p.Dial(t.Context()))(t)
		go func() { _, _ = c.Write([]byte("GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 2*maxHeader))) }()
		answer := make([]byte, 100)
		if n, err := c.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 431 ") {
			t.Errorf("%q, %v", answer[:n], err)
		}
		c.Close()
		time.Sleep(time.Second) // the server closes a connection half a second after its answer
		must.Do(t, web.Close())
	})
}
