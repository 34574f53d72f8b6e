package relay_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/examples/relay/store"
)

// filled returns a store with n events, the last one the newest. They are unsigned, because
// stored events are not verified.
func filled(t *testing.T, n int, content string) (*fake, []*nostr.Event) {
	t.Helper()
	kept := &fake{events: map[string]*nostr.Event{}}
	author := someone.key()
	var events []*nostr.Event
	for i := range n {
		e := &nostr.Event{PubKey: author, Kind: 1, CreatedAt: nostr.Timestamp(1000 + i), Content: content, Sig: strings.Repeat("0", 128)}
		e.ID = e.GetID()
		kept.events[e.ID] = e
		events = append(events, e)
	}
	return kept, events
}

// ids receives events until the end of the stored ones.
func (c *client) ids(subscription string) (ids []string) {
	c.t.Helper()
	for {
		switch m := c.receive(); {
		case m[0] == "EOSE" && m[1] == subscription:
			return ids
		case m[0] == "EVENT" && m[1] == subscription:
			ids = append(ids, m[2].(map[string]any)["id"].(string))
		default:
			c.t.Fatalf("received %.300v", m)
		}
	}
}

func TestStoredEventsThenThoseThatArePublished(t *testing.T) {
	kept, events := filled(t, 700, "")
	s := serve(t, relay.Config{Store: kept})
	c := s.client()
	c.send(`["REQ","all",{"limit":3}]`)
	if got := c.ids("all"); len(got) != 3 || got[0] != events[699].ID || got[2] != events[697].ID {
		t.Errorf("received %v, want the three newest", got)
	}
	published := someone.event(7, "")
	s.client().publish(published)
	got := c.want("EVENT", "all")[2].(map[string]any)
	if got["id"] != published.ID || got["sig"] != published.Sig {
		t.Errorf("received %v, want %v", got, published)
	}
	c.send(`["CLOSE","all"]`)
	c.send(`["REQ","none",{"limit":0}]`)
	c.want("EOSE", "none")
	s.client().publish(someone.event(8, ""))
	c.want("EVENT", "none") // and not "all"
}

func TestFilterThatMatchesEverythingIsReadInSlices(t *testing.T) {
	kept, events := filled(t, 400, strings.Repeat("x", 1000))
	var mu sync.Mutex
	slices := 0
	kept.beforeNext = func(nostr.Filter) error {
		mu.Lock()
		defer mu.Unlock()
		slices++
		return nil
	}
	s := serve(t, relay.Config{Store: kept, Slice: 20})
	c := s.client()
	c.send(`["REQ","all",{}]`)
	if got := c.ids("all"); len(got) != len(events) {
		t.Errorf("received %d events, want %d", len(got), len(events))
	}
	mu.Lock()
	defer mu.Unlock()
	if slices < 20 {
		t.Errorf("400 keys were read in %d slices of 20 keys or less, want 20 at least", slices)
	}
}

func TestCount(t *testing.T) {
	kept, _ := filled(t, 700, "")
	s := serve(t, relay.Config{Store: kept})
	c := s.client()
	for filters, want := range map[string]float64{
		`{}`:                            700,
		`{"kinds":[2]}`:                 0,
		`{"since":1690},{"until":1009}`: 20,
		`{"since":1690},{"since":1680}`: 20,
	} {
		c.send(`["COUNT","n",` + filters + `]`)
		got := c.want("COUNT", "n")[2].(map[string]any)["count"]
		if got != want {
			t.Errorf("%s: %v, want %v", filters, got, want)
		}
	}
}

func TestSubscriptionFlood(t *testing.T) {
	s := serve(t, relay.Config{Subscriptions: 5})
	c := s.client()
	for i := range 50 {
		c.send(fmt.Sprintf(`["REQ","%d",{"limit":0}]`, i))
	}
	opened, refused := 0, 0
	for range 50 {
		switch m := c.receive(); {
		case m[0] == "EOSE":
			opened++
		case m[0] == "CLOSED" && strings.HasPrefix(m[2].(string), "rate-limited: 5 subscriptions"):
			refused++
		default:
			t.Fatal(m)
		}
	}
	if opened != 5 || refused != 45 {
		t.Errorf("%d were opened and %d refused, want 5 and 45", opened, refused)
	}
	if got := s.metric("relay_subscriptions"); got != "5" {
		t.Errorf("relay_subscriptions is %s, want 5", got)
	}
	c.send(`["REQ","3",{"limit":0}]`) // in place of an open one
	c.want("EOSE", "3")
	c.send(`["CLOSE","3"]`)
	c.send(`["REQ","new",{"limit":0}]`)
	c.want("EOSE", "new")
}

func TestRecordThatIsCorruptIsLeftOut(t *testing.T) {
	kept, _ := filled(t, 3, "")
	first := true
	kept.beforeNext = func(nostr.Filter) error {
		defer func() { first = false }()
		if first {
			return fmt.Errorf("%w: of a test", store.ErrCorrupt)
		}
		return nil
	}
	s := serve(t, relay.Config{Store: kept})
	c := s.client()
	c.send(`["REQ","a",{}]`)
	if got := c.ids("a"); len(got) != 3 {
		t.Errorf("received %d events, want those that can be read: 3", len(got))
	}
}

func TestEventsThatArePublishedWhileStoredOnesAreRead(t *testing.T) {
	kept, _ := filled(t, 10, "")
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	kept.beforeNext = func(nostr.Filter) error {
		entered <- struct{}{}
		<-leave
		return nil
	}
	s := serve(t, relay.Config{Store: kept})
	c, other := s.client(), s.client()
	c.send(`["REQ","a",{}]`)
	<-entered
	e, ephemeral := someone.event(1, "meanwhile"), someone.event(20001, "meanwhile")
	other.publish(e)
	other.publish(ephemeral)
	for _, want := range []*nostr.Event{e, ephemeral} {
		if got := c.want("EVENT", "a")[2].(map[string]any)["id"]; got != want.ID {
			t.Errorf("received %v, want %s", got, want.ID)
		}
	}
	close(leave)
	if got := c.ids("a"); len(got) != 10 {
		t.Errorf("received %d stored events, want the 10 that the query began with", len(got))
	}
	other.publish(someone.event(20002, "later"))
	c.want("EVENT", "a")
	if n := kept.len(); n != 11 {
		t.Errorf("the store has %d events, want no ephemeral one beside its 10 and one", n)
	}
}

// hold blocks reads until the function is called or the test ends. Each read that begins
// sends on entered.
func (s *fake) hold(t *testing.T) (entered <-chan struct{}, release func()) {
	in, leave := make(chan struct{}, 1000), make(chan struct{})
	s.beforeNext = func(nostr.Filter) error {
		in <- struct{}{}
		select {
		case <-leave:
		case <-t.Context().Done():
		}
		return nil
	}
	return in, sync.OnceFunc(func() { close(leave) })
}

// TestCountsAreNoSubscriptions is a regression test: waiting COUNTs counted as
// subscriptions, so that a client with all of its subscriptions open could not count.
func TestCountsAreNoSubscriptions(t *testing.T) {
	kept, _ := filled(t, 1, "")
	_, release := kept.hold(t)
	s := serve(t, relay.Config{Store: kept, Subscriptions: 2, Queries: 1})
	c := s.client()
	for _, id := range []string{"COUNT c1", "COUNT c2", "COUNT c3", "REQ r1", "REQ r2", "REQ r3", "COUNT c4"} {
		kind, id, _ := strings.Cut(id, " ")
		c.send(fmt.Sprintf(`["%s","%s",{}]`, kind, id))
	}
	c.want("CLOSED", "c3", "rate-limited: 2 COUNTs are not answered yet*")
	c.want("CLOSED", "r3", "rate-limited: 2 subscriptions are open*")
	c.want("CLOSED", "c4", "rate-limited: 2 COUNTs are not answered yet*")
	if n, m := s.metric(`relay_refused_total{stage="subscription"}`), s.metric(`relay_refused_total{stage="count"}`); n != "1" || m != "2" {
		t.Errorf("%s subscriptions and %s COUNTs are counted as refused, want 1 and 2", n, m)
	}
	release()
	for _, want := range []string{"COUNT c1", "COUNT c2", "EVENT r1", "EOSE r1", "EVENT r2", "EOSE r2"} {
		kind, id, _ := strings.Cut(want, " ")
		c.want(kind, id)
	}
	c.send(`["COUNT","c5",{}]`)
	c.want("COUNT", "c5")
}

// TestQueriesOfAConnectionAtOnce also checks that a waiting query ends with its subscription:
// otherwise a client that opens and closes subscriptions while its queries wait would fill the
// memory.
func TestQueriesOfAConnectionAtOnce(t *testing.T) {
	kept, _ := filled(t, 1, "")
	entered, release := kept.hold(t)
	s := serve(t, relay.Config{Store: kept, Queries: 2, Reads: 100, MessageRate: 10_000})
	c := s.client()
	c.send(`["REQ","first",{}]`)
	c.send(`["REQ","second",{}]`)
	<-entered
	<-entered
	for range 500 {
		c.send(`["REQ","again",{}]`)
	}
	c.send(`["REQ","closed",{}]`)
	c.send(`["CLOSE","closed"]`)
	c.send(`["REQ","bad",{"kinds":1}]`) // answered after all earlier messages
	c.want("CLOSED", "bad")
	if len(entered) > 0 {
		t.Error("three queries of a connection run at once, want two")
	}
	release()
	ended := map[any]bool{}
	for len(ended) < 3 {
		if m := c.receive(); m[0] == "EOSE" {
			ended[m[1]] = true
		}
	}
	if ended["closed"] || len(entered) != 1 {
		t.Errorf("ended are %v after %d more queries, want one: the last of 500 with one id", ended, len(entered))
	}
}
