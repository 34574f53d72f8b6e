package listen

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// endless writes until a write fails, and then closes the channel.
func endless(ended chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for page := make([]byte, 1<<20); ; {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	}
}

func TestStalledReader(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	l := start(t, endless(ended), func(c *config.Listener) { c.BodyTimeout = short })
	dial(t, l, get) // and never reads
	<-ended
	must.Happen(t, "it is closed and counted", func() bool { n := l.Counts(); return n.Open == 0 && n.Stalled == 1 })
}

func TestStalledReaderOfHTTP2(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	l := start(t, endless(ended), func(c *config.Listener) { c.BodyTimeout = short })
	c, _ := client(t, (*http.Protocols).SetUnencryptedHTTP2)
	response := must.Have(c.Get("http://" + l.Addr().String()))(t)
	<-ended // the client has a window for each stream, and does not read
	response.Body.Close()
	if n := l.Counts(); n.Stalled != 1 || n.Open != 1 || n.Resets != 0 {
		t.Errorf("%+v, want one stalled stream on an open connection, which no client reset", n)
	}
}

// A write lasts until the client has read the data in the socket, which is longer than a
// client may stall.
func TestSlowReaderIsNoStalledOne(t *testing.T) {
	t.Parallel()
	const stall = 250 * time.Millisecond // a busy machine may delay the reader for a second
	size := 12 << 20
	l := start(t, func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(make([]byte, size)); err != nil {
			t.Errorf("Write: %v", err)
		}
	}, func(c *config.Listener) { c.BodyTimeout = config.Duration(stall) })
	for name, protocol := range map[string]func(*http.Protocols, bool){"h1": (*http.Protocols).SetHTTP1, "h2": (*http.Protocols).SetUnencryptedHTTP2} {
		t.Run(name, func(t *testing.T) {
			c, _ := client(t, protocol)
			response := must.Have(c.Get("http://" + l.Addr().String()))(t)
			defer response.Body.Close()
			read, begun := 0, time.Now()
			for part := make([]byte, 256<<10); read < size; {
				n, err := io.ReadFull(response.Body, part)
				if read += n; err != nil && read < size {
					t.Fatalf("cut after %d bytes and %v: %v", read, time.Since(begun), err)
				}
				<-time.After(time.Until(begun.Add(3 * readersPatience * stall * time.Duration(read) / time.Duration(size)))) // 4 MB/s
			}
		})
	}
}

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
	part, begun := make([]byte, 1<<10), time.Now()
	for n := range 240 {
		<-time.After(time.Until(begun.Add(time.Duration(n+1) * time.Second / faster))) // a ticker would leave out the ticks that a busy machine misses
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
