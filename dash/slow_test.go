package dash

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// A client that stays and reads nothing loses its connection, and holds up nothing meanwhile. The
// buffers of its connection take some megabytes first.
func TestConnectionOfASlowReaderIsCut(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	h := busy(t, mostLimiters)
	h.hub.running = true // by this test
	server := httptest.NewServer(h)
	slow := must.Have(net.Dial("tcp", server.Listener.Addr().String()))(t)
	defer slow.Close()
	fmt.Fprint(slow, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	quick := must.Have(server.Client().Get(server.URL + "/events"))(t)
	go func() {
		defer quick.Body.Close()
		_, _ = io.Copy(io.Discard, quick.Body)
	}()
	clients := func() (n, unread int) {
		h.hub.mu.Lock()
		defer h.hub.mu.Unlock()
		for c := range h.hub.clients {
			unread += len(c.messages)
		}
		return len(h.hub.clients), unread
	}
	for n, _ := clients(); n != 2; n, _ = clients() { // both have joined
		runtime.Gosched()
	}
	begun := time.Now()
	for n, unread := clients(); n == 2; {
		h.hub.mu.Lock()
		h.hub.keep(time.Now(), h.hub.attempt())
		h.hub.send()
		h.hub.mu.Unlock()
		// Once messages stay unread, the connection of the slow client is full.
		before := unread
		for range 100_000 {
			if n, unread = clients(); n < 2 || unread <= before {
				break
			}
			runtime.Gosched()
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("the slow client is still there")
		}
	}
	if n, _ := clients(); n != 1 {
		t.Errorf("%d clients are left, want the quick one", n)
	}
	h.Close()
	ended := make(chan struct{})
	go func() {
		server.Close() // waits for the handler of the slow client, whose last write has a deadline
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(3 * patience):
		t.Errorf("its handler has not ended after %v", 3*patience)
	}
}

// The time to read a message is over before the next one: as in a recording, which has one.
func TestStreamOfHTTP2OutlivesTheTimeToRead(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	h := must.Have(Replay(strings.NewReader(recorded), Config{Public: true}))(t)
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	defer h.Close()
	answer := must.Have(server.Client().Get(server.URL + "/events"))(t)
	defer answer.Body.Close()
	time.AfterFunc(patience+time.Second, h.Close)
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.ProtoMajor != 2 {
		t.Errorf("%v over HTTP/%d, want the end of the stream", err, answer.ProtoMajor)
	}
}
