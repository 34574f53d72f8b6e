package bulkhead

import (
	"slices"
	"strings"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/feed"
)

// dynamic has the compartments of keys that the configuration does not name.
type dynamic struct {
	mu     sync.RWMutex
	byKey  map[string]*compartment
	ring   []*compartment // the same, for the hand of the clock to go round
	hand   int
	closed bool

	leaving []*compartment // are shut, and go when their work is done
	evicted uint64
	past    weir.Snapshot // totals of removed compartments

	readers []*feed.Reader[weir.Event] // of all compartments, also of named keys
}

// mostLooks is how many compartments makeRoom looks at to find one that can go. It bounds
// the cost of a new key; the next one continues where this one stopped.
const mostLooks = 32

func (d *dynamic) find(key string) *compartment {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byKey[key]
}

// add puts a compartment where makeRoom made room for it.
func (d *dynamic) add(c *compartment) {
	d.byKey[c.key] = c
	if d.hand < len(d.ring) && d.ring[d.hand] == nil {
		d.ring[d.hand] = c
		d.advance()
		return
	}
	d.ring = append(d.ring, c)
}

// closeGap removes the empty slot that makeRoom reserved if creating the compartment failed:
// its law returned an error or panicked.
func (d *dynamic) closeGap() {
	if d.hand < len(d.ring) && d.ring[d.hand] == nil {
		d.reset(slices.DeleteFunc(d.ring, func(c *compartment) bool { return c == nil }))
	}
}

func (d *dynamic) advance() { d.hand = (d.hand + 1) % len(d.ring) }

// create returns the compartment of an unknown key, made if need be, or that of the
// overflow.
func (s *Set) create(key string) (*compartment, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	d := &s.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	t := s.table.Load()
	if c := t.byKey[key]; c != nil {
		return c, nil
	}
	if c := d.byKey[key]; c != nil {
		return c, nil
	}
	if d.closed {
		return nil, closedTo(key)
	}
	if !s.makeRoom(t.conf.MaxKeys) {
		return t.byKey[Overflow], nil
	}
	defer d.closeGap()
	c, err := s.open(strings.Clone(key), t.conf.Default, t.conf.Default.allocation())
	if err != nil { // of a law that accepted the same settings before
		return nil, err
	}
	d.add(c)
	return c, nil
}

// makeRoom makes room for one more, and reports false if there is none.
func (s *Set) makeRoom(maxKeys int) bool {
	d := &s.dynamic
	s.reap(2) // more than come, so that they do not pile up
	if len(d.ring) < maxKeys {
		return true
	}
	for range min(mostLooks, 2*len(d.ring)) {
		c := d.ring[d.hand]
		if !c.used.Swap(false) && c.shutIfIdle() {
			s.remove(c)
			delete(d.byKey, c.key)
			d.ring[d.hand] = nil
			d.evicted++
			return true
		}
		d.advance()
	}
	return false
}

// hasRoom reports whether makeRoom would make room for one more. It changes nothing.
func (d *dynamic) hasRoom(maxKeys int) bool {
	if len(d.ring) < maxKeys {
		return true
	}
	for i := range min(mostLooks, 2*len(d.ring)) {
		c := d.ring[(d.hand+i)%len(d.ring)]
		again := i >= len(d.ring)
		if (again || !c.used.Load()) && c.isIdle() {
			return true
		}
	}
	return false
}

// closedTo is the refusal of an unknown key by a closed set.
func closedTo(key string) error {
	return &weir.RefusedError{Limiter: key, Reason: weir.ReasonClosed}
}

// reap removes those among the first few of the leaving that are drained.
func (s *Set) reap(few int) {
	d := &s.dynamic
	for range min(few, len(d.leaving)) {
		c := d.leaving[0]
		d.leaving = d.leaving[1:]
		if c.drained() {
			s.remove(c)
		} else {
			d.leaving = append(d.leaving, c)
		}
	}
}

// remove keeps the totals of a compartment that is shut and not in use, and lets it go.
func (s *Set) remove(c *compartment) {
	limiters.AddTotals(&s.dynamic.past, c.limiter.Snapshot())
	s.group.remove(c.limiter)
}

// reset has the ring hold these and no others.
func (d *dynamic) reset(ring []*compartment) {
	d.ring, d.hand = ring, 0
	clear(d.byKey)
	for _, c := range d.ring {
		d.byKey[c.key] = c
	}
}
