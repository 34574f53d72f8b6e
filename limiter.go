package weir

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/clock"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// A Limiter admits work up to a limit on work in flight and moves that limit by
// what it measures. Most callers want [Limiter.Do]; those whose work does not
// fit a function take a [Permit] with [Limiter.Acquire].
//
// A Limiter has no goroutine and no timer of its own: windows close, and the law
// decides, on the calls that pass by. All methods are safe for concurrent use.
// Make one with [New]; the zero Limiter is not usable.
type Limiter struct {
	node admit.Node
	face atomic.Pointer[face]
}

// face is the part of the configuration that the core does not know. It is
// replaced as a whole.
type face struct {
	name     string
	law      law.Law
	timeout  time.Duration
	classify func(error) Outcome // nil for Classify
	onEvent  func(Event)
	rare     *rare // nil for most
}

// rare is the part of a face that few limiters have, kept apart because faces are many.
type rare struct {
	breaker   Breaker // nil for none
	tenants   bool
	measures  bool       // Config.Histograms
	exemplars *exemplars // nil for none

	readers []*reader   // of Events
	hook    func(Event) // with readers: Config.OnEvent, as face.onEvent tells them too
}

// tenant returns the hash of the tenant of work under ctx, 0 unless tenants are told apart.
func (r *rare) tenant(ctx context.Context) uint16 {
	if !r.tenants {
		return 0
	}
	return tenantHash(ctx)
}

// sample has work that was just admitted leave an exemplar if one is due.
func (r *rare) sample(ctx context.Context, p *Permit) {
	if r.exemplars != nil && r.exemplars.due(p.ticket.Record.Start) {
		r.exemplars.sample(ctx, p)
	}
}

func now() int64 { return clock.Now() }

// New returns a limiter, or an error that matches [ErrConfig] and names the
// setting, its value and what is allowed.
func New(c Config) (*Limiter, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	return newLimiter(c, c.settings(), nil)
}

func newLimiter(c Config, s admit.Settings, g *admit.Group) (*Limiter, error) {
	l := &Limiter{}
	if err := l.node.Init(s, c.Law, g, now()); err != nil {
		return nil, fmt.Errorf("%w of limiter %q: %w", ErrConfig, c.Name, err)
	}
	l.face.Store(c.face())
	return l, nil
}

// Must is for package variables: it returns the limiter and panics on an error.
func Must(l *Limiter, err error) *Limiter {
	if err != nil {
		panic(err)
	}
	return l
}

func (c Config) face() *face {
	f := &face{name: c.Name, law: c.Law, timeout: c.Timeout, classify: c.Classify, onEvent: c.OnEvent}
	if tenants := c.Queue.Tenants > 0; tenants || c.Breaker != nil || c.Histograms {
		f.rare = &rare{breaker: c.Breaker, tenants: tenants, measures: c.Histograms, exemplars: newExemplars(c.Exemplar)}
	}
	return f
}

// Acquire returns a permit for one piece of work, waiting in the queue if there
// is one. The caller gives it back with Done, DoneWith or Release.
//
// The error matches [ErrRefused] if the work was refused. If ctx ended first the
// error matches context.Cause(ctx) instead and is not a refusal. A nil ctx counts
// as context.Background. It does not allocate unless it has to wait or refuse.
func (l *Limiter) Acquire(ctx context.Context) (Permit, error) { return l.enter(ctx, 1) }

// AcquireN is Acquire for work that takes weight slots instead of one. A weight
// above the limit is refused with [ErrTooHeavy]; one below 1 is an error that
// matches [ErrConfig].
func (l *Limiter) AcquireN(ctx context.Context, weight int) (Permit, error) {
	if err := checkWeight(weight); err != nil {
		return Permit{}, err
	}
	return l.enter(ctx, weight)
}

func checkWeight(slots int) error {
	if slots < 1 || slots > maxSlots {
		return invalid("weight", slots, fmt.Sprintf("1 to %d", maxSlots))
	}
	return nil
}

func (l *Limiter) enter(ctx context.Context, weight int) (Permit, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		l.leave()
		return Permit{}, l.cancelled(ctx)
	}
	if rare := l.face.Load().rare; rare != nil {
		return l.enterBehind(ctx, weight, rare)
	}
	return l.acquire(ctx, 0, weight)
}

// enterBehind is enter for a limiter with a rare setting.
func (l *Limiter) enterBehind(ctx context.Context, weight int, r *rare) (p Permit, err error) {
	if r.breaker != nil {
		p, err = l.acquireBehind(ctx, r.tenant(ctx), weight, r.breaker)
	} else {
		p, err = l.acquire(ctx, r.tenant(ctx), weight)
	}
	if err == nil {
		r.sample(ctx, &p)
	}
	return p, err
}

func (l *Limiter) acquire(ctx context.Context, tenant uint16, weight int) (Permit, error) {
	var fx admit.Effects
	var ticket reply.Ticket
	verdict := l.node.Acquire(&ticket, tenant, weight, now(), &fx)
	l.after(&fx, ticket)
	switch verdict {
	case reply.Admitted:
		return Permit{limiter: l, ticket: ticket}, nil
	case reply.MustWait:
		return l.wait(ctx, tenant, weight)
	default:
		return Permit{}, l.refuse(verdict, fx.RetryAfter, fx.Seq)
	}
}

// TryAcquire is Acquire for work that will not wait: if there is no free slot it
// is refused, and counted as such, at once. If ctx has ended already, ok is false too, and the work
// is counted as cancelled instead of refused. A nil ctx counts as context.Background. It never
// allocates but for a Breaker or an exemplar.
func (l *Limiter) TryAcquire(ctx context.Context) (p Permit, ok bool) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		l.leave()
		return Permit{}, false
	}
	if rare := l.face.Load().rare; rare != nil {
		return l.tryEnterBehind(ctx, rare)
	}
	return l.tryAcquire(0)
}

// tryEnterBehind is enterBehind for work that will not wait.
func (l *Limiter) tryEnterBehind(ctx context.Context, r *rare) (p Permit, ok bool) {
	if r.breaker != nil {
		p, ok = l.tryAcquireBehind(ctx, r.tenant(ctx), r.breaker)
	} else {
		p, ok = l.tryAcquire(r.tenant(ctx))
	}
	if ok {
		r.sample(ctx, &p)
	}
	return p, ok
}

func (l *Limiter) tryAcquire(tenant uint16) (Permit, bool) {
	var fx admit.Effects
	var ticket reply.Ticket
	verdict := l.node.TryAcquire(&ticket, tenant, 1, now(), &fx)
	l.after(&fx, ticket)
	if verdict == reply.Admitted {
		return Permit{limiter: l, ticket: ticket}, true
	}
	if f := l.face.Load(); f.onEvent != nil {
		l.reportRefusal(f, verdict, fx.RetryAfter, fx.Seq)
	}
	return Permit{}, false
}

// Snapshot returns the limiter's state now. Reading changes nothing: no window
// is closed by it.
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
func (l *Limiter) String() string {
	text, err := l.Snapshot().MarshalJSON()
	if err != nil {
		return fmt.Sprintf("{%q:%q}", "error", err)
	}
	return string(text)
}

// Update applies a new configuration to the running limiter, whole or not at
// all. What runs and what waits is left alone: a longer queue, another
// discipline or a lower limit take effect as work comes and goes. The limit stays
// where it is unless the new bounds or the new law move it. A law of the same
// type keeps what it learned; another one starts from the current limit. A closed
// limiter stays closed. The error is one that [New]
// would return. If the law panics the panic goes on, either from its Controller before
// anything was changed, or once everything is.
func (l *Limiter) Update(c Config) error {
	c, err := c.complete()
	if err != nil {
		return err
	}
	return l.apply(c, c.settings())
}

func (l *Limiter) apply(c Config, s admit.Settings) error {
	f := c.face()
	s.Applied = func() { l.face.Store(f.withReaders(l.face.Load().readers())) }
	var fx admit.Effects
	if err := l.node.Update(s, c.Law, now(), &fx); err != nil {
		return fmt.Errorf("%w of limiter %q: %w", ErrConfig, c.Name, err)
	}
	l.after(&fx, reply.Ticket{})
	return nil
}

// SetCap bounds the work in flight by so many slots besides the limit, from 0 to 1,000,000,000, at
// once and while work runs. Nothing that runs is interrupted: above the cap nothing starts until
// enough has ended, and at 0 nothing starts at all. Work that finds no room waits in the queue, or is
// refused without one.
//
// The cap may be below [Config].Min. The law hears nothing of what only the cap holds back, and the
// limit that it found counts again once the cap is above it; a cap from Config.Max up bounds nothing.
// [Limiter.Update] keeps the cap. To move a cap over several limiters, see package bulkhead.
//
// A value out of range is an error that matches [ErrConfig].
func (l *Limiter) SetCap(slots int) error {
	if slots < 0 || slots > maxSlots {
		return fmt.Errorf("%w: SetCap of %d: want 0 to %d", ErrConfig, slots, maxSlots)
	}
	var fx admit.Effects
	l.node.SetCap(slots, now(), &fx)
	l.after(&fx, reply.Ticket{})
	return nil
}

// Close refuses all that waits and all that arrives from now on, with
// [ErrClosed]. What runs is left alone, and its permits can be given back as
// ever. Closing twice is closing once.
func (l *Limiter) Close() {
	var fx admit.Effects
	l.node.Close(now(), &fx)
	l.after(&fx, reply.Ticket{})
}

// Drain refuses what arrives from now on, with [ErrClosed], and leaves what waits and
// what runs to be done. It does not wait for that; [Limiter.Shutdown] does.
func (l *Limiter) Drain() { l.drain() }

func (l *Limiter) drain() <-chan struct{} {
	var fx admit.Effects
	drained := l.node.Drain(now(), &fx)
	l.after(&fx, reply.Ticket{})
	return drained
}

// Shutdown refuses what arrives from now on and waits until all that waited or
// ran is done. If ctx ends before, it closes the limiter and returns an error
// that matches context.Cause(ctx). A nil ctx counts as context.Background.
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
			l.face.Load().name, l.Snapshot().InFlight, context.Cause(ctx))
	}
}
