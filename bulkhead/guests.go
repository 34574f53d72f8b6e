package bulkhead

import (
	"slices"
	"strings"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/feed"
)

// guests are the compartments of the keys that the configuration does not name.
type guests struct {
	mu     sync.RWMutex
	byKey  map[string]*compartment
	ring   []*compartment // the same, for the hand of the clock to go round
	hand   int
	closed bool

	leaving []*compartment // are shut, and go when their work is done
	evicted uint64
	past    weir.Snapshot // totals of those that went

	readers []*feed.Reader[weir.Event] // of all compartments, those of named keys too
}

// patience is how many compartments are looked at to find one that can go. It bounds
// what a newcomer costs; the next one goes on where this one stopped.
const patience = 32

func (g *guests) find(key string) *compartment {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.byKey[key]
}

// add puts a newcomer where makeRoom made room for it.
func (g *guests) add(c *compartment) {
	g.byKey[c.key] = c
	if g.hand < len(g.ring) && g.ring[g.hand] == nil {
		g.ring[g.hand] = c
		g.pass()
		return
	}
	g.ring = append(g.ring, c)
}

// closeGap closes the one that was left for a newcomer who did not come, because its law
// returned an error, or the law or what makes its breaker panicked.
func (g *guests) closeGap() {
	if g.hand < len(g.ring) && g.ring[g.hand] == nil {
		g.seat(slices.DeleteFunc(g.ring, func(c *compartment) bool { return c == nil }))
	}
}

func (g *guests) pass() { g.hand = (g.hand + 1) % len(g.ring) }

// invite returns the compartment of an unknown key, made if need be, or that of the
// overflow.
func (s *Set) invite(key string) (*compartment, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	g := &s.guests
	g.mu.Lock()
	defer g.mu.Unlock()
	r := s.roster.Load()
	if c := r.byKey[key]; c != nil {
		return c, nil
	}
	if c := g.byKey[key]; c != nil {
		return c, nil
	}
	if g.closed {
		return nil, &weir.RefusedError{Limiter: key, Reason: weir.ReasonClosed}
	}
	if !s.makeRoom(r.conf.MaxKeys) {
		return r.byKey[Overflow], nil
	}
	defer g.closeGap()
	c, err := s.open(strings.Clone(key), r.conf.Default, r.conf.Default.stake())
	if err != nil { // of a law that accepted the same settings before
		return nil, err
	}
	g.add(c)
	return c, nil
}

// makeRoom makes room for one more, and reports false if there is none.
func (s *Set) makeRoom(maxKeys int) bool {
	g := &s.guests
	s.seeOff(2) // more than come, so that they do not pile up
	if len(g.ring) < maxKeys {
		return true
	}
	for range min(patience, 2*len(g.ring)) {
		c := g.ring[g.hand]
		if !c.used.Swap(false) && c.shutIfIdle() {
			s.remove(c)
			delete(g.byKey, c.key)
			g.ring[g.hand] = nil
			g.evicted++
			return true
		}
		g.pass()
	}
	return false
}

// seeOff removes those among the first few of the leaving that are drained.
func (s *Set) seeOff(few int) {
	g := &s.guests
	for range min(few, len(g.leaving)) {
		c := g.leaving[0]
		g.leaving = g.leaving[1:]
		if c.drained() {
			s.remove(c)
		} else {
			g.leaving = append(g.leaving, c)
		}
	}
}

// remove keeps the totals of a compartment that is shut and not in use, and lets it go.
func (s *Set) remove(c *compartment) {
	limiters.AddTotals(&s.guests.past, c.limiter.Snapshot())
	s.group.remove(c.limiter)
}

// seat has the ring hold these and no others.
func (g *guests) seat(ring []*compartment) {
	g.ring, g.hand = ring, 0
	clear(g.byKey)
	for _, c := range g.ring {
		g.byKey[c.key] = c
	}
}
