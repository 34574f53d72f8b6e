package weir

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/clock"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/law"
)

// A Limiter admits work up to a limit on work in flight and moves that limit by its
// measurements. Most callers want [Limiter.Do]; for work that does not fit a function, take a
// [Permit] with [Limiter.Acquire].
//
// A Limiter has no goroutine and no timer of its own: calls close the windows and run the
// law. All methods are safe for concurrent use. Make one with [New]; the zero Limiter is not
// usable.
type Limiter struct {
	node   admit.Node
	config atomic.Pointer[config]
}

func now() int64 { return clock.Now() }

// New returns a limiter, or an error that matches [ErrConfig] and names the setting, its
// value and the allowed range.
func New(c Config) (*Limiter, error) { return newMember(c, nil, nil) }

// newMember is New for a limiter with an allocation in a group.
func newMember(c Config, g *admit.Group, a *admit.Allocation) (*Limiter, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	l := &Limiter{}
	if err := l.node.Init(c.settings(a), c.Law, g, now()); err != nil {
		return nil, fmt.Errorf("%w of limiter %q: %w", ErrConfig, c.Name, err)
	}
	l.config.Store(c.config())
	return l, nil
}

// Must is for package variables: it returns the limiter and panics on an error.
func Must(l *Limiter, err error) *Limiter {
	if err != nil {
		panic(err)
	}
	return l
}

// Snapshot returns the limiter's state now. It changes nothing, and closes no window.
func (l *Limiter) Snapshot() Snapshot { return l.snapshot(now(), window.NewRaw()) }

// History returns the last changes of the limit, up to sixteen, oldest first.
func (l *Limiter) History() []Change {
	changes := l.node.History()
	history := make([]Change, len(changes))
	for i, c := range changes {
		history[i] = publicChange(c)
	}
	return history
}

// String returns the snapshot as JSON, which makes a Limiter an expvar.Var:
//
//	expvar.Publish("search", lim)
func (l *Limiter) String() string { return wire.String(l.Snapshot()) }

// Update applies a new configuration to the running limiter, whole or not at all. Running and
// waiting work is left alone: a longer queue, another discipline or a lower limit take effect as
// work comes and goes. The limit stays where it is unless the new bounds or the new law move it. A
// law of the same type keeps its state; another law starts from the current limit. A closed limiter
// stays closed.
//
// The error is one that [New] would return. If the law panics, so does Update: before any change if
// the law's Controller method panicked, and otherwise after all changes.
func (l *Limiter) Update(c Config) error { return l.update(c, nil, law.Knowledge{}) }

// update is Update for a limiter that may get another allocation in its group. With knowledge, the
// law starts from it.
func (l *Limiter) update(c Config, a *admit.Allocation, learned law.Knowledge) error {
	c, err := c.complete()
	if err != nil {
		return err
	}
	s, conf := c.settings(a), c.config()
	s.Applied = func() { l.config.Store(conf) }
	var fx admit.Effects
	next := c.Law
	if s.Resumed = learned.Limit; s.Resumed > 0 {
		next = law.Resume(next, learned)
	}
	if err := l.node.Update(s, next, now(), &fx); err != nil {
		return fmt.Errorf("%w of limiter %q: %w", ErrConfig, c.Name, err)
	}
	l.after(&fx)
	return nil
}

// SetCap bounds the work in flight by a number of slots, from 0 to 1,000,000,000, in addition to
// the limit. It takes effect at once. Running work is not interrupted: above the cap no work starts
// until enough work has ended, and with a cap of 0 no work starts at all. Work that finds no room
// waits in the queue, or is refused if there is no queue.
//
// The cap may be below [Config].Min; at Config.Max or more it bounds nothing. The law does not
// learn from work that only the cap holds back, and its limit counts again once the cap is above
// it. [Limiter.Update] keeps the cap. To move a cap over several limiters, see package bulkhead.
//
// A value out of range is an error that matches [ErrConfig].
func (l *Limiter) SetCap(slots int) error {
	if slots < 0 || slots > maxSlots {
		return fmt.Errorf("%w: SetCap of %d: want 0 to %d", ErrConfig, slots, maxSlots)
	}
	var fx admit.Effects
	l.node.SetCap(slots, now(), &fx)
	l.after(&fx)
	return nil
}

// Close refuses all waiting work and all new arrivals, with [ErrClosed]. Running work is left
// alone, and its permits can be given back as usual. A second call does nothing.
func (l *Limiter) Close() {
	var fx admit.Effects
	l.node.Close(now(), &fx)
	l.after(&fx)
}

// Drain refuses new arrivals, with [ErrClosed], and lets waiting and running work finish. It
// returns at once; [Limiter.Shutdown] waits for the work.
func (l *Limiter) Drain() { l.drain() }

func (l *Limiter) drain() <-chan struct{} {
	var fx admit.Effects
	drained := l.node.Drain(now(), &fx)
	l.after(&fx)
	return drained
}

// Shutdown refuses new arrivals and waits until all waiting and running work is done. If ctx
// ends before, it closes the limiter and returns an error that matches context.Cause(ctx). A
// nil ctx counts as context.Background.
func (l *Limiter) Shutdown(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	drained := l.drain()
	select {
	case <-drained:
		return nil
	default:
	}
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		l.Close()
		return fmt.Errorf("weir: limiter %q: shutdown with %d in flight: %w",
			l.config.Load().name, l.Snapshot().InFlight, context.Cause(ctx))
	}
}
