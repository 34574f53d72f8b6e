package fleet

import (
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// An Actuator keeps work within a share. A [Member] calls it from one goroutine.
type Actuator interface {
	// SetShare bounds the work in flight from now on. It may be called often with the same value.
	SetShare(slots int) error

	// Load returns the slots in use, and the slots that the present work could use.
	Load() (running, need int)
}

// Limiter keeps the work of a limiter within the share, by [weir.Limiter.SetCap]. No other code may
// move the cap.
func Limiter(l *weir.Limiter) Actuator {
	if l == nil {
		return nil // Join refuses nil
	}
	return &demand{share: -1, set: l.SetCap, read: func() (weir.Snapshot, int) {
		s := l.Snapshot()
		return s, s.Limit
	}}
}

// Set keeps the work of all keys of a set within the share, by [bulkhead.Set.SetMax]. The set needs
// a [bulkhead.Config].Max, and no other code may move the cap.
func Set(s *bulkhead.Set) Actuator {
	if s == nil {
		return nil
	}
	return &demand{share: -1, set: s.SetMax, read: func() (weir.Snapshot, int) {
		all := s.Snapshot()
		return all.Total, min(all.Total.Limit, all.Max)
	}}
}

// A demand measures the slots that work could use.
type demand struct {
	set     func(int) error
	read    func() (s weir.Snapshot, limit int) // the limit, cut to the share
	share   int                                 // -1 before the first share
	need    float64
	refused uint64
}

// slower is the least ratio of a need to the need in the call of Load before. A share that followed
// each dip of the need would move for nothing.
const slower = 0.9

func (d *demand) SetShare(slots int) error {
	if slots == d.share {
		return nil
	}
	d.share = slots
	return d.set(slots)
}

// Load counts running and waiting work. Refused work asks for twice the share, unless the limiter's
// own law refuses it.
func (d *demand) Load() (running, need int) {
	s, limit := d.read()
	now := float64(s.InFlight + s.Queued)
	if refused := s.RefusedTotal(); refused > d.refused {
		d.refused = refused
		if limit >= d.share {
			now = max(now, 2*float64(d.share), 1)
		}
	}
	d.need = max(now, slower*d.need)
	return s.InFlight, int(d.need)
}
