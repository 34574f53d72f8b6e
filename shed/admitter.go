package shed

import (
	"context"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// Admitter returns an admitter that refuses the share of the shedder, and asks next about the
// rest. Work that is shed is not seen by next. Work that passes its Full must then be
// acquired, as by a tap and an interceptor of weirgrpc; both together shed the share once.
// The method panics if next is nil.
func (s *Shedder) Admitter(next weir.Admitter) weir.Admitter {
	if edge.IsExempt(next) {
		panic("shed: Admitter: next is nil: want a limiter, or an admitter of your own")
	}
	return admitter{gate{s, next}, next}
}

// Gate is Admitter for a gate that can only acquire, such as the one that weirhttp.ByKey
// names for a request. A nil gate stays nil, which exempts the work: none of it is shed.
func (s *Shedder) Gate(next edge.Gate) edge.Gate {
	if edge.IsExempt(next) {
		return nil
	}
	return gate{s, next}
}

type gate struct {
	shedder *Shedder
	next    edge.Gate
}

func (g gate) Acquire(ctx context.Context) (weir.Permit, error) {
	if err := g.shedder.Full(ctx); err != nil {
		return weir.Permit{}, err
	}
	return g.next.Acquire(ctx)
}

// Snapshot returns the limit of next for weirhttp, which lets uploads hold a part of it. It
// is zero if next has none.
func (g gate) Snapshot() weir.Snapshot {
	if next, ok := g.next.(interface{ Snapshot() weir.Snapshot }); ok {
		return next.Snapshot()
	}
	return weir.Snapshot{}
}

type admitter struct {
	gate
	next weir.Admitter
}

func (a admitter) Do(ctx context.Context, fn func(context.Context) error) error {
	if err := a.shedder.Full(ctx); err != nil {
		return err
	}
	return a.next.Do(ctx, fn)
}

func (a admitter) TryAcquire(ctx context.Context) (weir.Permit, error) {
	if err := a.shedder.Full(ctx); err != nil {
		return weir.Permit{}, err
	}
	return a.next.TryAcquire(ctx)
}

func (a admitter) Full(ctx context.Context) error {
	if err := a.shedder.full(ctx, true); err != nil {
		return err
	}
	return a.next.Full(ctx)
}
