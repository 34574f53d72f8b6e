package bulkhead

import (
	"cmp"
	"strings"
	"sync"

	"github.com/weir-go/weir"
)

// dynamic has the compartments of keys that the configuration does not name.
type dynamic struct {
	mu     sync.RWMutex
	byKey  map[string]*compartment
	ring   []*compartment // the same compartments, in the order of the clock's hand
	hand   int
	closed bool

	leaving []*compartment // these are shut, and go when their work is done
	evicted uint64
	past    weir.Snapshot // totals of removed compartments
}

// mostLooks is how many compartments makeRoom looks at. It bounds the cost of a new key. The next
// search continues where the last one stopped.
const mostLooks = 32

func (d *dynamic) find(key string) *compartment {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byKey[key]
}

// findUnknown returns the compartment of a key that has none yet. If create is set it makes one, or
// returns the overflow if there is no room for another key. Otherwise it returns nil.
func (s *Set) findUnknown(key string, create bool) (*compartment, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	d := &s.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	t := s.table.Load()
	s.reap(2) // more than the one that comes, so that they do not pile up
	switch c := cmp.Or(t.byKey[key], d.byKey[key]); {
	case c != nil: // made meanwhile
		return c, nil
	case d.closed:
		return nil, &weir.RefusedError{Limiter: key, Reason: weir.ReasonClosed}
	case !create:
		return nil, nil
	case !s.makeRoom(t.conf.MaxKeys):
		c := t.byKey[Overflow]
		c.touch()
		return c, nil
	}
	c, err := s.open(strings.Clone(key), t.conf.Default, t.conf.Default.allocation())
	if err != nil { // only if a law refuses settings that it took before
		return nil, err
	}
	d.ring = append(d.ring, c)
	d.byKey[c.key] = c
	return c, nil
}

// makeRoom reports whether there is room for another compartment. At maxKeys it evicts an idle
// compartment to make room.
func (s *Set) makeRoom(maxKeys int) bool {
	d := &s.dynamic
	if len(d.ring) < maxKeys {
		return true
	}
	for range min(mostLooks, 2*len(d.ring)) {
		d.hand = (d.hand + 1) % len(d.ring)
		if old := d.ring[d.hand]; !old.used.Swap(false) && old.shutIfIdle() {
			s.remove(old)
			delete(d.byKey, old.key)
			d.evicted++
			last := len(d.ring) - 1
			d.ring[d.hand], d.ring[last] = d.ring[last], nil
			d.ring = d.ring[:last]
			return true
		}
	}
	return false
}

// reap checks the first few leaving compartments, and removes the drained ones.
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

// remove adds the totals of an idle, closed compartment to past, and removes it from the group.
func (s *Set) remove(c *compartment) {
	limiters.AddTotals(&s.dynamic.past, c.limiter.Snapshot())
	s.group.remove(c.limiter)
}

// reset replaces all compartments by the ring.
func (d *dynamic) reset(ring []*compartment) {
	d.ring, d.hand = ring, 0
	clear(d.byKey)
	for _, c := range d.ring {
		d.byKey[c.key] = c
	}
}
