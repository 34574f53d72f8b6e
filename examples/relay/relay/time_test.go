package relay_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// bubble is a server in a bubble. Goroutines that outlive it fail the test: the bubble would
// wait for them forever.
type bubble struct {
	t       *testing.T
	pipes   *tcptest.Pipes
	server  *relay.Server
	through *http.Client
	stop    func()
}

// inBubble runs a test with a server in the time of a bubble.
func inBubble(t *testing.T, c relay.Config, test func(t *testing.T, b *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, stop := build(t, c)
		b := &bubble{t: t, pipes: tcptest.NewPipes(), server: s, stop: stop}
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return b.pipes.Dial(ctx) }}
		b.through = &http.Client{Transport: transport}
		web := &http.Server{Handler: s.Handler()}
		go func() { _ = web.Serve(b.pipes) }()
		synctest.Wait() // until Run has started
		test(t, b)
		stop()
		web.Close()
		transport.CloseIdleConnections()
	})
}

func (b *bubble) client() *client { return connect(b.t, "http://relay", b.through) }

// wantEnd receives until the connection ends, and returns the time of the end.
func (c *client) wantEnd() time.Time {
	for {
		if _, _, err := c.Read(context.Background()); err != nil {
			return time.Now()
		}
	}
}

func TestMessagesAreReadAtTheRate(t *testing.T) {
	inBubble(t, relay.Config{MessageRate: 10}, func(t *testing.T, b *bubble) {
		c := b.client()
		began := time.Now()
		c.send(strings.Repeat(" ", 120<<10)) // 80 KiB at once, and the others at 40 KiB per second
		c.want("NOTICE")
		if took := time.Since(began).Round(100 * time.Millisecond); took != time.Second {
			t.Errorf("a message of 120 KiB took %v, want 1 s", took)
		}
		began = time.Now()
		go func() {
			for range 69 {
				c.send(`["HELLO"]`)
			}
		}()
		for range 69 {
			c.want("NOTICE")
		}
		// 19 at once, within the burst, which had one message, and the others at 10 per second
		if took := time.Since(began).Round(100 * time.Millisecond); took != 5*time.Second {
			t.Errorf("69 messages took %v, want 5 s", took)
		}
		pings := c.CloseRead(t.Context())
		began = time.Now()
		for range 10 {
			must.Do(t, c.Ping(pings))
		}
		if took := time.Since(began).Round(100 * time.Millisecond); took != time.Second {
			t.Errorf("10 pings took %v, want 1 s", took)
		}
	})
}

func TestFramesWithoutAPayloadAreReadAtTheRate(t *testing.T) {
	inBubble(t, relay.Config{MessageRate: 10}, func(t *testing.T, b *bubble) {
		flood := handshake(t, b)
		const begun, empty = "\x01\x81\x00\x00\x00\x00[", "\x00\x80\x00\x00\x00\x00"
		fmt.Fprint(flood, begun)
		began, sent := time.Now(), 0
		for err := error(nil); err == nil && sent < 1<<20; sent += len(empty) {
			_, err = fmt.Fprint(flood, empty)
		}
		// 80 KiB at once, and 40 KiB per second until the message has taken too long
		if took := time.Since(began).Round(time.Second); sent > 500<<10 || took != 10*time.Second {
			t.Errorf("%d bytes were read in %v, want up to 480 KiB in 10 s", sent, took)
		}
	})
}

func TestHalfOpenSocket(t *testing.T) {
	inBubble(t, relay.Config{}, func(t *testing.T, b *bubble) {
		dead := handshake(t, b)
		began := time.Now()
		go func() { _, _ = io.Copy(io.Discard, dead.Reader) }() // reads everything and answers nothing
		busy := handshake(t, b)                                 // answers no ping either, but sends messages
		go func() { _, _ = io.Copy(io.Discard, busy.Reader) }()
		go func() {
			for range 100 {
				_, _ = busy.Write(frame(`["CLOSE","x"]`))
				busy.Flush()
				time.Sleep(time.Second)
			}
		}()
		c := b.client()
		go c.wantEnd() // answers pings
		time.Sleep(39 * time.Second)
		if n := b.open(); n != 3 {
			t.Errorf("%d connections after %v, want 3", n, time.Since(began))
		}
		time.Sleep(2 * time.Second)
		if n := b.open(); n != 2 {
			t.Errorf("%d connections after %v, want the two that answer pings or send", n, time.Since(began))
		}
		time.Sleep(80 * time.Second)
		if n := b.open(); n != 2 {
			t.Errorf("%d connections 80 s later, want the two that answer pings or send", n)
		}
	})
}

// frame returns a frame of a client with a short text. Its mask is zero.
func frame(text string) []byte {
	return append([]byte{0x81, 0xfe, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}, text...)
}

// handshake connects a client without the WebSocket library.
func handshake(t *testing.T, b *bubble) *bufio.ReadWriter {
	t.Helper()
	raw := must.Have(b.pipes.Dial(t.Context()))(t)
	t.Cleanup(func() { raw.Close() })
	rw := bufio.NewReadWriter(bufio.NewReader(raw), bufio.NewWriter(raw))
	fmt.Fprint(rw, "GET / HTTP/1.1\r\nHost: relay\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	rw.Flush()
	answer, err := http.ReadResponse(rw.Reader, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(answer, err)
	}
	return rw
}

// open returns the number of connections of the server.
func (b *bubble) open() int {
	synctest.Wait()
	return must.Have(strconv.Atoi(metric(b.t, b.server, "relay_connections")))(b.t)
}

func TestClientThatNeverReads(t *testing.T) {
	kept, _ := filled(t, 2000, strings.Repeat("x", 1000))
	inBubble(t, relay.Config{Store: kept}, func(t *testing.T, b *bubble) {
		slow, other := b.client(), b.client()
		slow.send(`["REQ","all",{}]`)
		began := time.Now()
		other.publish(someone.event(1, "does not wait for the slow one"))
		if took := time.Since(began); took > time.Second {
			t.Errorf("an event waited %v for a client that does not read", took)
		}
		time.Sleep(11 * time.Second)
		if n := b.open(); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
	})
}

func TestLiveEventsForAClientThatDoesNotRead(t *testing.T) {
	inBubble(t, relay.Config{MessageRate: 1000}, func(t *testing.T, b *bubble) {
		slow, other := b.client(), b.client()
		slow.send(`["REQ","all",{}]`)
		slow.want("EOSE", "all")
		for range 300 {
			other.publish(someone.event(20_000, strings.Repeat("x", 1000)))
		}
		if n := b.open(); n != 1 { // before the relay gives up a write
			t.Errorf("%d connections after 300 KB for an outbox of 256, want 1", n)
		}
	})
}

func TestMessageThatIsNeverFinished(t *testing.T) {
	inBubble(t, relay.Config{}, func(t *testing.T, b *bubble) {
		c := b.client()
		w := must.Have(c.Writer(t.Context(), websocket.MessageText))(t)
		began := time.Now()
		_, _ = w.Write([]byte(`["EVENT",`))
		_, _ = w.Write([]byte(strings.Repeat(" ", 10_000)))
		if took := c.wantEnd().Sub(began); took != 10*time.Second {
			t.Errorf("the connection ended after %v, want 10 s", took)
		}
	})
}

func TestStoreThatStandsStill(t *testing.T) {
	kept := &fake{}
	inBubble(t, relay.Config{Store: kept, Writes: 1}, func(t *testing.T, b *bubble) {
		stuck := make(chan struct{})
		kept.beforeSave = func(*nostr.Event) error { <-stuck; return nil }
		first, second := b.client(), b.client()
		e := someone.event(1, "")
		first.send(eventMessage(e))
		synctest.Wait()
		began := time.Now()
		refused := someone.event(2, "")
		second.send(eventMessage(refused))
		second.want("OK", refused.ID, false, "rate-limited: too many events to write: come back in *")
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the client heard after %v, want 5 s", took)
		}
		second.send(`["REQ","a",{"limit":1}]`) // reads do not wait for writes
		second.want("EOSE", "a")
		close(stuck)
		first.want("OK", e.ID, true)
	})
}

func TestWriteOutlivesItsClient(t *testing.T) {
	kept := &fake{}
	inBubble(t, relay.Config{Store: kept}, func(t *testing.T, b *bubble) {
		stuck := make(chan struct{})
		kept.beforeSave = func(*nostr.Event) error { <-stuck; return nil }
		c := b.client()
		c.send(eventMessage(someone.event(1, "")))
		synctest.Wait()
		c.CloseNow()
		synctest.Wait()
		close(stuck)
		if synctest.Wait(); kept.len() != 1 {
			t.Errorf("%d events are in, want the one whose write had begun", kept.len())
		}
	})
}

// While a message waits for the store, the answer of the client to a ping is not read.
func TestStoreThatStandsStillForLong(t *testing.T) {
	kept := &fake{}
	inBubble(t, relay.Config{Store: kept}, func(t *testing.T, b *bubble) {
		stuck := make(chan struct{})
		kept.beforeSave = func(*nostr.Event) error { <-stuck; return nil }
		c := handshake(t, b)
		go func() { _, _ = io.Copy(io.Discard, c.Reader) }()
		for range 9 { // one more than a connection has published at once
			_, _ = c.Write(frame(eventMessage(someone.event(1, rand.Text()))))
		}
		c.Flush()
		time.Sleep(2 * time.Minute)
		close(stuck)
		if n := b.open(); n != 1 {
			t.Errorf("%d connections, want the one that waited for the store", n)
		}
	})
}

func TestEndOfTheRelay(t *testing.T) {
	kept := &fake{}
	inBubble(t, relay.Config{Store: kept}, func(t *testing.T, b *bubble) {
		entered, leave := make(chan struct{}, 1), make(chan struct{})
		kept.beforeSave = func(*nostr.Event) error { entered <- struct{}{}; <-leave; return nil }
		writer, idle := b.client(), b.client()
		e := someone.event(1, "in flight")
		writer.send(eventMessage(e))
		<-entered
		go b.stop()
		idle.want("NOTICE", "the relay is closing")
		if _, _, err := idle.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("the connection ended with %v, want 1001", err)
		}
		if _, _, err := websocket.Dial(t.Context(), "ws://relay", &websocket.DialOptions{HTTPClient: b.through}); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("a connection while the relay closes: %v, want 503", err)
		}
		close(leave)
		writer.want("OK", e.ID, true)
		writer.want("NOTICE", "the relay is closing")
		writer.wantEnd()
		if kept.len() != 1 {
			t.Error("what was acknowledged is not in the store")
		}
	})
}

func TestEndOfTheRelayWithAClientThatDoesNotRead(t *testing.T) {
	inBubble(t, relay.Config{}, func(t *testing.T, b *bubble) {
		dead := handshake(t, b)
		began := time.Now()
		b.stop()
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("the end took %v", took)
		}
		_ = dead
	})
}
