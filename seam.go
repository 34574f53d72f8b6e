package weir

import (
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/seam"
)

func init() {
	seam.Provide(seam.Limiters[*Limiter, Config, Snapshot, Event]{
		Complete:  Config.complete,
		New:       newMember,
		Update:    (*Limiter).updateMember,
		Node:      func(l *Limiter) *admit.Node { return &l.node },
		SetPace:   (*Limiter).setPace,
		NewReader: newReader,
		Follow:    (*Limiter).follow,
		Unfollow:  (*Limiter).unfollow,
		AddTotals: (*Snapshot).addTotals,
		Sum:       sumOf,
	})
}

func newMember(c Config, g *admit.Group, s admit.Allocation) (*Limiter, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	settings := c.settings()
	settings.Allocation = &s
	return newLimiter(c, settings, g)
}

func (l *Limiter) updateMember(c Config, s admit.Allocation) error {
	c, err := c.complete()
	if err != nil {
		return err
	}
	settings := c.settings()
	settings.Allocation = &s
	return l.apply(c, settings)
}

func (l *Limiter) setPace(p admit.Pace) {
	var fx admit.Effects
	l.node.SetPace(p, now(), &fx)
	l.after(&fx, reply.Ticket{})
}
