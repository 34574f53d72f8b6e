package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/weir-go/weir/internal/must"
)

const token = "0123456789abcdef"

// serveNATS starts a server with JetStream in this process until the test ends.
func serveNATS(t *testing.T, o server.Options) (address string, stop func()) {
	t.Helper()
	o.Host, o.JetStream, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", true, t.TempDir(), true, true
	s := must.Have(server.NewServer(&o))(t)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	stop = func() { s.Shutdown(); s.WaitForShutdown() }
	t.Cleanup(stop)
	return fmt.Sprintf("127.0.0.1:%d", s.Addr().(*net.TCPAddr).Port), stop
}

func secured(port int, token string, with *tls.Config) server.Options {
	return server.Options{Port: port, Authorization: token, TLSConfig: with, TLSTimeout: 2}
}

// fileOf writes a file of the test.
func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	return must.Write(t, filepath.Join(t.TempDir(), name), text)
}
