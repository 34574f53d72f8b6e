package listen

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/longtest"
)

// With the usual BodyTimeout, a client that reads 1 KB/s of a response of 10 MB is not cut.
// The test runs twenty times as fast.
func TestKilobyteASecond(t *testing.T) {
	longtest.Skip(t)
	const faster = 20
	t.Parallel() // waits for 12 s
	failed := make(chan error, 1)
	l := start(t, func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 10<<20))
		failed <- err
	}, func(c *config.Listener) { c.BodyTimeout = config.Duration(30 * time.Second / faster) })
	conn, _ := dial(t, l, get)
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	second := time.NewTicker(time.Second / faster)
	defer second.Stop()
	part := make([]byte, 1<<10)
	for n := range 240 {
		<-second.C
		if _, err := io.ReadFull(conn, part); err != nil {
			t.Fatalf("cut after %d s: %v", n, err)
		}
		select {
		case err := <-failed:
			t.Fatalf("cut after %d s: %v", n, err)
		default:
		}
	}
}
