package main

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// systemd starts dependent units once the proxy listens.
func TestNotify(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	listener := must.Have(net.ListenPacket("unixgram", socket))(t)
	defer listener.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		args := []string{"proxy", "--to", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", ""}
		ended <- run(ctx, args, environmentOf("NOTIFY_SOCKET="+socket), io.Discard, io.Discard)
	}()
	for _, want := range []string{"READY=1", "STOPPING=1"} {
		said := make([]byte, 64)
		n, _, err := listener.ReadFrom(said)
		if err != nil || string(said[:n]) != want {
			t.Fatalf("systemd was told %q, %v: want %s", said[:n], err, want)
		}
		stop()
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
