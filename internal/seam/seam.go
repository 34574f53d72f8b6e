package seam

import (
	"fmt"

	"github.com/weir-go/weir/internal/admit"
)

// Limiters is the access that package weir provides: L is *weir.Limiter, C is weir.Config and S is
// weir.Snapshot.
type Limiters[L, C, S any] struct {
	// Complete returns the configuration with its defaults, or the error of weir.New. It does not
	// check the law.
	Complete func(c C) (C, error)

	// New returns a limiter with an allocation in the group. With a nil group it does the same as
	// weir.New.
	New func(c C, g *admit.Group, s admit.Allocation) (L, error)

	// Update does the same as Limiter.Update, and changes the allocation too.
	Update func(l L, c C, s admit.Allocation) error

	// Node returns the limiter's node, for calls whose only Effects are Woken.
	Node func(l L) *admit.Node

	// SetPace replaces the pace. Its values must be in range.
	SetPace func(l L, p admit.Pace)

	// AddTotals adds the counts of another snapshot since its limiter was made.
	AddTotals func(sum *S, s S)

	// Sum does the same as weir.Sum, and calls each with the snapshot of each limiter.
	Sum func(all []L, each func(i int, s *S)) S
}

var provided any

// Provide is called once, by package weir.
func Provide[L, C, S any](l Limiters[L, C, S]) { provided = l }

// Of returns the access that package weir provided. It panics if weir provided other types.
func Of[L, C, S any]() Limiters[L, C, S] {
	l, ok := provided.(Limiters[L, C, S])
	if !ok {
		panic(fmt.Sprintf("seam: asked for a %T, but package weir provided a %T", l, provided))
	}
	return l
}
