package lease

import (
	"hash/fnv"
	"time"
)

// A ballot follows the leader, and proposes this node as leader when the leader is silent.
type ballot struct {
	leader Leader // the leader in the store; the zero Leader if there is none
	rev    uint64 // of the leader's entry
	seen   time.Duration
	synced bool // whether this node has read the entry, or that there is none
	led    Epoch
	asked  time.Duration // when this node last wrote the entry
	jitter time.Duration
}

// jitter spreads the candidacies of members, to avoid a burst of writes. A burst would be harmless.
func jitter(c Config) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(c.ID))
	return time.Duration(uint64(h.Sum32()) * uint64(c.Refresh) >> 32)
}

func (b *ballot) read(now time.Duration, l Leader, rev uint64) {
	b.leader, b.rev, b.seen = l, rev, now
}

// elected reports whether the entry begins a new term of this node. A store that went back may show
// an old term, which is over.
func (b *ballot) elected(c Config, l Leader, promised Epoch) bool {
	if l.Epoch.ID != c.ID || l.Epoch != promised || !b.led.Before(l.Epoch) {
		return false
	}
	b.led = l.Epoch
	return true
}

// campaign returns the write that renews or begins a term.
func (b *ballot) campaign(c Config, now time.Duration, a *allocator, promised Epoch) (w Write, ok bool) {
	if !b.synced || b.asked != 0 && now < b.asked+c.Refresh {
		return Write{}, false
	}
	next := Leader{Sent: now}
	switch {
	case a != nil:
		next.Epoch, next.Blind = a.epoch, max(0, a.blind-now)
	case b.rev == 0:
		next.Epoch, next.Blind = Epoch{promised.N + 1, c.ID}, c.wait()
	case b.leader.Epoch.ID == c.ID, now >= b.seen+drift(c.term())+b.jitter:
		next.Epoch, next.Blind = Epoch{promised.N + 1, c.ID}, b.leader.Blind
	default:
		return Write{}, false
	}
	b.asked = now
	return Write{Key: LeaderKey, Value: encode(next), Swap: true, Rev: b.rev}, true
}
