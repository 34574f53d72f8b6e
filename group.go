package weir

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/weir-go/weir/internal/admit"
)

// A Group caps the work in flight of several limiters together: those of one
// process, in front of one pool of connections. A limiter of a group works as any
// other does, and its work has to find room below both limits, which are checked
// at the same instant. How the slots are shared out is in [Stake].
//
// The time of admission does not grow with the limiters, except that it is
// logarithmic in those that have work waiting for the group. All methods are safe
// for concurrent use. Make one with [NewGroup]; the zero Group is not usable.
type Group struct{ group *admit.Group }

// A Stake is what a limiter may have of its group's slots. The zero Stake reserves
// nothing and has a share of 1.
//
// Reserved slots are never lent. The rest of the group's slots is shared out by
// Share among the limiters that have work running or waiting; whoever is alone may
// have all of it. What a limiter is entitled to is its reserve and its part of the
// rest. A slot that comes free goes to work waiting in a limiter that stays within
// its entitlement with it, then to those that run least beyond their reserve for
// their share, and among equals in turn, by share. So a limiter that returns gets
// its slots back as the work of borrowers ends, one by one; nothing is interrupted.
// It has to wait for them in its own [Queue]: without one it gets its reserve, and
// what is free when it asks. One in shadow mode runs above the cap too, and takes of the
// group's slots what it would have had: the others get what they get beside a live one.
type Stake struct {
	// Reserved is how many slots are kept for this limiter alone. From 0 to
	// Config.Max; the reserves of a group add up to its cap at most.
	Reserved int

	// Share weighs this limiter against the others. Defaults to 1; from 0.001
	// to 1000, and rounded to a thousandth.
	Share float64
}

// Bounds of Stake.Share: beyond them one limiter would as good as have all or nothing.
const (
	minShare = 0.001
	maxShare = 1000
)

// NewGroup returns a group whose limiters run at most so many slots of work together,
// from 1 to 1,000,000,000, or an error that matches [ErrConfig].
func NewGroup(slots int) (*Group, error) {
	if err := checkSlots(slots); err != nil {
		return nil, err
	}
	return &Group{admit.NewGroup(slots)}, nil
}

func checkSlots(slots int) error {
	if slots < 1 || slots > maxSlots {
		return fmt.Errorf("%w of the group: its cap is %d: want 1 to %d", ErrConfig, slots, maxSlots)
	}
	return nil
}

// New returns a limiter of the group, or an error that matches [ErrConfig].
func (g *Group) New(c Config, s Stake) (*Limiter, error) {
	c, settings, err := s.settings(c)
	if err != nil {
		return nil, err
	}
	return newLimiter(c, settings, g.group)
}

// Update applies a new configuration and stake to a running limiter of the group, both
// or neither. What the limiter learned is kept as by [Limiter.Update], which keeps the
// stake. A reserve that others have borrowed meanwhile comes back as their work ends.
func (g *Group) Update(l *Limiter, c Config, s Stake) error {
	if l == nil || !g.group.Has(&l.node) {
		return l.stranger()
	}
	c, settings, err := s.settings(c)
	if err != nil {
		return err
	}
	return l.apply(c, settings)
}

func (l *Limiter) stranger() error {
	name := "(nil)"
	if l != nil {
		name = l.face.Load().name
	}
	return fmt.Errorf("%w: limiter %q is not in the group: want one that the group's New returned and that was not removed",
		ErrConfig, name)
}

// Resize changes the cap, which must leave room for the reserves. What runs is left
// alone: above the new cap nothing starts until enough has ended.
func (g *Group) Resize(slots int) error {
	if err := checkSlots(slots); err != nil {
		return err
	}
	var fx admit.Effects
	if err := g.group.Resize(slots, now(), &fx); err != nil {
		return fmt.Errorf("%w of the group: %w", ErrConfig, err)
	}
	fx.Woken.Wake()
	return nil
}

// Unreserve lowers a limiter's reserve to what it keeps, if it has more, and leaves the
// rest of its settings alone. Reserves that are to move between limiters are lowered
// first. On a limiter that is not in the group it does nothing.
func (g *Group) Unreserve(l *Limiter, keep int) {
	if l == nil {
		return
	}
	var fx admit.Effects
	g.group.Unreserve(&l.node, max(0, keep), now(), &fx)
	fx.Woken.Wake()
}

// ErrBusy is the error of removing a limiter that is in use.
var ErrBusy = errors.New("weir: limiter is in use")

// Remove takes an idle limiter out of the group and gives its reserve to the others.
// The limiter is closed by that: whoever still holds it gets [ErrClosed]. One in which
// work runs or waits stays, and the error matches [ErrBusy].
func (g *Group) Remove(l *Limiter) error {
	if l == nil {
		return l.stranger()
	}
	var fx admit.Effects
	err := g.group.Remove(&l.node, now(), &fx)
	switch {
	case errors.Is(err, admit.ErrBusy):
		return fmt.Errorf("%w: %q", ErrBusy, l.face.Load().name)
	case err != nil:
		return l.stranger()
	}
	fx.Woken.Wake()
	return nil
}

// A GroupSnapshot is a group's state, all of it at the same moment. Slots are counted
// by weight.
type GroupSnapshot struct {
	Max      int      // the cap on work in flight
	InFlight int      // what runs now
	Reserved int      // sum of Stake.Reserved
	Lent     int      // what runs beyond the reserves of those who run it
	Limiters int      // in the group
	Members  []Member // the limiters in which work runs or waits, by name
}

// A Member is a limiter in a [GroupSnapshot]. Members with Borrowed slots run them at
// the expense of those that wait with less in flight than they are Entitled to.
type Member struct {
	Name     string  // Config.Name
	InFlight int     // what runs now
	Queued   int     // what waits now, for the limit or for the group
	Reserved int     // Stake.Reserved
	Share    float64 // Stake.Share
	Entitled float64 // slots that it has a right to now, its reserve included
	Borrowed float64 // slots in flight beyond that
}

// Snapshot returns the group's state now. It holds admission up for as long as it takes
// to copy the members that have work.
func (g *Group) Snapshot() GroupSnapshot {
	s := g.group.State()
	snap := GroupSnapshot{
		Max: s.Limit, InFlight: s.InFlight, Reserved: s.Reserved, Lent: s.Lent, Limiters: s.Members,
		Members: make([]Member, len(s.Busy)),
	}
	for i, m := range s.Busy {
		snap.Members[i] = Member{
			Name: m.Name, InFlight: m.InFlight, Queued: m.Queued, Reserved: m.Reserved, Share: m.Share,
			Entitled: m.Entitled, Borrowed: m.Borrowed,
		}
	}
	slices.SortFunc(snap.Members, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return snap
}

// settings checks the configuration and the stake of a limiter.
func (s Stake) settings(c Config) (Config, admit.Settings, error) {
	c, err := c.WithDefaults()
	if err != nil {
		return c, admit.Settings{}, err
	}
	share := orDefault(s.Share, 1)
	switch {
	case s.Reserved < 0 || s.Reserved > c.Max:
		err = c.invalid("Reserved", s.Reserved, fmt.Sprintf("0 to Max, which is %d", c.Max))
	case !(share >= minShare && share <= maxShare): // nor if it is not a number
		err = c.invalid("Share", s.Share, fmt.Sprintf("0 (the default, 1) or %v to %v", minShare, float64(maxShare)))
	}
	settings := c.settings()
	settings.Stake = &admit.Stake{Reserved: s.Reserved, Share: share}
	return c, settings, err
}
