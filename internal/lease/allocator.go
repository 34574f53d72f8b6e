package lease

import (
	"slices"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/maxmin"
	"github.com/weir-go/weir/law"
)

// mostMembers bounds the memory of an allocator. It admits no more members.
const mostMembers = 10_000

// settling is the number of refreshes that a store may lose, and that a new member waits.
const settling = 5

// An allocator divides the cap during one term.
type allocator struct {
	conf     Config
	epoch    Epoch
	settled  time.Duration // when the grants of earlier terms, and their work, have ended
	blind    time.Duration // until when no member is raised
	synced   bool
	number   uint64
	bookings []*booking // by id
	gone     []string
}

func newAllocator(c Config, now time.Duration, l Leader) *allocator {
	return &allocator{conf: c, epoch: l.Epoch, settled: now + c.wait(), blind: now + l.Blind}
}

// find returns the booking of a member, and makes one for a new member.
func (a *allocator) find(now time.Duration, id string) *booking {
	i, known := slices.BinarySearchFunc(a.bookings, id, func(b *booking, id string) int { return strings.Compare(b.id, id) })
	if !known {
		if len(a.bookings) == mostMembers {
			return nil
		}
		a.bookings = slices.Insert(a.bookings, i, &booking{id: id, since: now, heard: now})
	}
	return a.bookings[i]
}

func (a *allocator) readWant(now time.Duration, id string, w Want) {
	if w.Leaving {
		a.bookings = slices.DeleteFunc(a.bookings, func(b *booking) bool { return b.id == id })
		a.gone = append(a.gone, id)
	} else if b := a.find(now, id); b != nil {
		b.hear(now, a.epoch, w)
	}
}

// readGrant takes a grant of an earlier term, since its member may fall back to it.
func (a *allocator) readGrant(now time.Duration, id string, g Grant) {
	if g.Epoch == a.epoch {
		return
	}
	if b := a.find(now, id); b != nil {
		b.past = max(b.past, g.Keep)
	}
}

// allocate returns the grants that are due, and forgets members.
func (a *allocator) allocate(now time.Duration) []Write {
	writes := a.forget(now)
	total, _ := a.caps()
	equal := total / max(1, len(a.bookings))
	free, rest := total, total // without occupied slots; without the slots of silent members
	raise := a.synced && now >= a.blind
	members := 0
	var live []*booking
	for _, b := range a.bookings {
		b.occupied = b.occupies(now, a, equal)
		free -= b.occupied
		if now < b.heard+drift(a.conf.TTL) {
			members++
		}
		raise = raise && (b.promised || now >= a.settled)
		if b.promised && now < b.heard+settling*a.conf.Refresh && (b.want.Settled || now >= b.since+drift(settling*a.conf.Refresh)) {
			live = append(live, b)
		} else {
			rest -= b.occupied
		}
	}
	target(live, max(0, rest), free >= 0)
	if !raise {
		free = 0
	}
	give(live, free)
	a.advise(now)
	for _, b := range live {
		if b.due(now, a.conf) {
			a.number++
			writes = append(writes, b.grant(now, a, equal, members))
		}
	}
	return writes
}

// advise lets the laws of the members learn from one another. A report counts for a TTL.
func (a *allocator) advise(now time.Duration) {
	var speakers []*booking
	var reports []law.Report
	for _, b := range a.bookings {
		if b.advice = nil; b.reported > 0 && now < b.reported+a.conf.TTL {
			speakers, reports = append(speakers, b), append(reports, b.report)
		} else {
			b.about = 0
		}
	}
	if len(reports) == 0 {
		return
	}
	advice := law.Advise(reports)
	common := law.Advice{Members: len(reports), NoLoad: advice[0].NoLoad}
	for _, b := range a.bookings {
		b.advice = &common
	}
	for i, b := range speakers {
		b.advice = &advice[i]
	}
}

// caps returns the lowest and the highest cap that a member is configured with. The lowest cap
// counts.
func (a *allocator) caps() (lowest, highest int) {
	lowest, highest = a.conf.Cap, a.conf.Cap
	for _, b := range a.bookings {
		if b.promised {
			lowest, highest = min(lowest, b.want.Cap), max(highest, b.want.Cap)
		}
	}
	return lowest, highest
}

// forget drops members that were silent for too long. It returns the writes that delete the keys of
// these and of members that have left.
func (a *allocator) forget(now time.Duration) (writes []Write) {
	a.bookings = slices.DeleteFunc(a.bookings, func(b *booking) bool {
		if now < max(b.heard+a.conf.Forget, b.until(a.conf)) {
			return false
		}
		a.gone = append(a.gone, b.id)
		return true
	})
	for _, id := range a.gone {
		writes = append(writes, Write{Key: WantPrefix + id}, Write{Key: GrantPrefix + id})
	}
	a.gone = nil
	return writes
}

// target sets the slots that each member should have. Changes of less than 5% are not worth a
// message, unless slots are lacking.
func target(live []*booking, total int, steady bool) {
	needs, weights := make([]int, len(live)), make([]float64, len(live))
	for i, b := range live {
		needs[i], weights[i] = b.want.Need, b.want.Weight
	}
	for i, share := range maxmin.Shares(total, needs, weights) {
		b := live[i]
		if last := b.last().Share; steady && 20*int64(max(share-last, last-share)) < int64(last) {
			share = last
		}
		b.target = share
	}
}

// give divides the free slots among the members below their target. A member that occupies more
// than its target loses slots at once. They are free when the member no longer occupies them.
func give(live []*booking, free int) {
	lack, weights, all := make([]int, len(live)), make([]float64, len(live)), 0
	for i, b := range live {
		lack[i], weights[i] = max(0, b.target-b.occupied), b.want.Weight
		all += lack[i]
	}
	for i, gift := range maxmin.Shares(min(max(0, free), all), lack, weights) {
		live[i].share = min(live[i].target, live[i].occupied+gift)
	}
}
