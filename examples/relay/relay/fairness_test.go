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

func TestFloodOfEventsDelaysOnlyItsSender(t *testing.T) {
	saved, leave := make(chan string), make(chan struct{})
	kept := &fake{beforeSave: func(e *nostr.Event) error {
		saved <- e.Content
		<-leave
		return nil
	}}
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
	go func() {
		for range saved {
		}
	}()
	close(leave)
	for i, other := range others {
		other.want("OK", events[i].ID, true)
		other.CloseNow()
	}
	for range 30 {
		flood.want("OK")
	}
	flood.CloseNow()
	s.stop()
	close(saved)
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
	go func() {
		for range slice {
		}
	}()
	close(leave)
	for _, other := range others {
		if got := other.ids("a"); len(got) != 5 {
			t.Errorf("received %d events, want 5", len(got))
		}
		other.CloseNow()
	}
	greedy.CloseNow()
	s.stop()
	close(slice)
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
