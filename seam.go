package weir

import (
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/seam"
	"github.com/weir-go/weir/law"
)

func init() {
	seam.Provide(seam.Limiters[*Limiter, Config, Snapshot]{
		Complete: Config.complete,
		New: func(c Config, g *admit.Group, s admit.Allocation) (*Limiter, error) {
			return newMember(c, g, &s)
		},
		Update: func(l *Limiter, c Config, s admit.Allocation) error {
			return l.update(c, &s, law.Knowledge{})
		},
		Node: func(l *Limiter) *admit.Node { return &l.node },
		SetPace: func(l *Limiter, p admit.Pace) {
			var fx admit.Effects
			l.node.SetPace(p, now(), &fx)
			l.after(&fx)
		},
		AddTotals: (*Snapshot).addTotals,
		Sum:       sumOf,
	})
}
