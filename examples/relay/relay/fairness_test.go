package relay_test

import (
	"fmt"
	"testing"

	"github.com/coder/websocket"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/relay"
)

// waitFor returns after a series has reached a value.
func (s *served) waitFor(series, value string) {
	s.t.Helper()
	for s.metric(series) != value {
	}
}

// tolerated is the number of operations of a connection with 8 or 20 in flight or waiting
// that may run before the first operation of another connection. With one slot, no operation
// is in flight when the slot becomes free, and either connection may be next. In order of
// arrival it would be 7 or 19. There are two other connections, because one of 256 is in the
// part of the queue that the flood is in.
const tolerated = 3

// gated is a store that hands on the content of each event, and then waits before it saves it.
func gated() (kept *fake, saved chan string, leave chan struct{}) {
	saved, leave = make(chan string), make(chan struct{})
	return &fake{beforeSave: func(e *nostr.Event) error {
		saved <- e.Content
		<-leave
		return nil
	}}, saved, leave
}

// release lets a store do all that it is asked from now on.
func release[T any](begun chan T, leave chan struct{}) {
	go func() {
		for range begun {
		}
	}()
	close(leave)
}

func TestFloodOfEventsDelaysOnlyItsSender(t *testing.T) {
	kept, saved, leave := gated()
	s := serve(t, relay.Config{Store: kept, Writes: 1})
	flood := s.client()
	for range 30 {
		flood.send(eventMessage(someone.event(1, "flood")))
	}
	<-saved
	s.waitFor(`weir_queued{limiter="store Writes"}`, "7") // of 8 in progress; the relay does not read the others
	events := []*nostr.Event{someone.event(1, "one"), someone.event(1, "two")}
	others := []*client{s.client(), s.client()}
	for i, other := range others {
		other.send(eventMessage(events[i]))
	}
	s.waitFor(`weir_queued{limiter="store Writes"}`, "9")
	between := 0
	for leave <- struct{}{}; <-saved == "flood"; leave <- struct{}{} {
		if between++; between > tolerated {
			t.Errorf("%d events of a flood were written before those of other connections", between)
			break
		}
	}
	defer close(saved)
	release(saved, leave)
	for i, other := range others {
		other.want("OK", events[i].ID, true)
		other.CloseNow()
	}
	for range 30 {
		flood.want("OK")
	}
	flood.CloseNow()
	s.stop()
}

func TestInternalClientsGoFirst(t *testing.T) {
	kept, saved, leave := gated()
	s := serve(t, relay.Config{Store: kept, Writes: 1})
	clients := []*client{s.client()}
	clients[0].send(eventMessage(someone.event(1, "public")))
	<-saved
	for range 12 {
		c := s.client()
		clients = append(clients, c)
		c.send(eventMessage(someone.event(1, "public")))
	}
	s.waitFor(`weir_queued{limiter="store Writes"}`, "12")
	internal := connect(t, s.in, nil)
	internal.send(eventMessage(someone.event(1, "internal")))
	s.waitFor(`weir_queued{limiter="store Writes"}`, "13")
	leave <- struct{}{}
	if first := <-saved; first != "internal" {
		t.Errorf("the event of a client of the %s listener was written first", first)
	}
	defer close(saved)
	release(saved, leave)
	for _, c := range append(clients, internal) {
		c.want("OK")
		c.CloseNow()
	}
	s.stop()
}

func TestFilterThatMatchesEverythingDelaysOnlyItsSender(t *testing.T) {
	kept, _ := filled(t, 2000, "")
	slice, leave := make(chan int), make(chan struct{}) // slice has the limit of the query
	kept.beforeNext = func(f nostr.Filter) error {
		slice <- f.Limit
		<-leave
		return nil
	}
	s := serve(t, relay.Config{Store: kept, Reads: 1, Slice: 10, Queries: 20})
	greedy, others := s.client(), []*client{s.client(), s.client()}
	for i := range 20 {
		greedy.send(fmt.Sprintf(`["COUNT","%d",{}]`, i)) // 200 slices each
	}
	<-slice
	s.waitFor(`weir_queued{limiter="store Reads"}`, "19")
	for _, other := range others {
		other.send(`["REQ","a",{"limit":5}]`)
	}
	s.waitFor(`weir_queued{limiter="store Reads"}`, "21")
	between := 0
	for leave <- struct{}{}; <-slice != 5; leave <- struct{}{} {
		if between++; between > tolerated {
			t.Errorf("queries waited for %d slices of a connection that counts everything", between)
			break
		}
	}
	defer close(slice)
	release(slice, leave)
	for _, other := range others {
		if got := other.ids("a"); len(got) != 5 {
			t.Errorf("received %d events, want 5", len(got))
		}
		other.CloseNow()
	}
	greedy.CloseNow()
	s.stop()
}

// A client may offer compression. The relay does not accept it, so no message grows as it is read.
func TestCompressionIsNotAccepted(t *testing.T) {
	s := serve(t, relay.Config{})
	socket, answer, err := websocket.Dial(t.Context(), s.url, &websocket.DialOptions{CompressionMode: websocket.CompressionContextTakeover})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.CloseNow()
	if taken := answer.Header.Get("Sec-WebSocket-Extensions"); taken != "" {
		t.Errorf("the relay takes %q", taken)
	}
}
