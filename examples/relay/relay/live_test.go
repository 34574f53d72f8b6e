package relay

import (
	"context"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
)

// blank saves nothing.
type blank struct{ inBadger }

func (blank) Save(context.Context, *nostr.Event) (store.Outcome, error) { return store.Saved, nil }

// An event holds a slot while it is delivered, so that a flood of events which thousands of
// subscriptions are matched with waits for its turn.
func TestEventsAreDeliveredInTheirTurn(t *testing.T) {
	s := must.Have(New(Config{Store: blank{}, Sources: []load.Source{Idle{}}}))(t)
	defer s.governor.Close()
	for kind, limiter := range map[int]func() weir.Snapshot{
		nostr.KindTextNote: func() weir.Snapshot { return s.throttle.Snapshot().Writes.Limiter },
		20000:              s.verifier.Snapshot,
	} {
		c, inFlight := newConnection(s, false), 0
		c.out.memory = share{keep: func(bytes int) (memory.Hold, error) { // called while the event is delivered
			inFlight = limiter().InFlight
			return s.governor.TryAcquireKept(bytes)
		}}
		c.leaving = true // it reads no stored events
		c.queries.subscribe("a", nostr.Filters{{Kinds: []int{kind}}}, 0)
		e := &nostr.Event{CreatedAt: nostr.Now(), Kind: kind}
		must.Do(t, e.Sign(nostr.GeneratePrivateKey()))
		if ok, reason := c.publish(e); !ok || inFlight != 1 {
			t.Errorf("kind %d: %q, and %d in flight as it was delivered, want 1", kind, reason, inFlight)
		}
		c.queries.endAll()
		c.out.discard()
	}
}
