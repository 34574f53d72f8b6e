package bulkhead

import (
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/clock"
	"github.com/weir-go/weir/internal/seam"
)

var limiters = seam.Of[*weir.Limiter, weir.Config, weir.Snapshot]()

func idle(l *weir.Limiter) bool { return limiters.Node(l).Idle() }

// A group is the cap over the limiters of a set. Without a cap it does nothing.
type group struct{ slots *admit.Group }

func (g group) open(c weir.Config, s admit.Allocation) (*weir.Limiter, error) {
	return limiters.New(c, g.slots, s)
}

// max returns the cap now, or 0 without a cap.
func (g group) max() int {
	if g.slots == nil {
		return 0
	}
	return g.slots.State().Limit
}

// resize changes the cap, which must leave room for the reserves.
func (g group) resize(slots int) {
	g.change(func(now int64, fx *admit.Effects) { g.slots.Resize(slots, now, fx) })
}

// reserve moves the reserve of a limiter to the nearest value from least to most, as far as the
// other reserves leave room.
func (g group) reserve(l *weir.Limiter, least, most int) {
	g.change(func(now int64, fx *admit.Effects) { g.slots.Reserve(limiters.Node(l), least, most, now, fx) })
}

// remove takes an idle limiter out of the group, which closes it, and gives its reserve to the
// other limiters.
func (g group) remove(l *weir.Limiter) {
	g.change(func(now int64, fx *admit.Effects) { g.slots.Remove(limiters.Node(l), now, fx) })
}

// change makes a change and wakes the work that it lets start.
func (g group) change(do func(now int64, fx *admit.Effects)) {
	if g.slots == nil {
		return
	}
	var fx admit.Effects
	do(clock.Now(), &fx)
	fx.Woken.Wake()
}
