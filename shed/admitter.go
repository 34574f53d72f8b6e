package shed

import (
	"context"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// Admitter returns an admitter that refuses the share of the work that the load demands, and asks
// next about all other work. next does not see work that is shed. Work that passes its Full must
// then be acquired, as a tap and an interceptor of weirgrpc do: the two calls together shed the
// share once. If next is nil, Admitter returns nil, which exempts the work from shedding. So
// Admitter may wrap the admitter that weirhttp.ByKey names for a request.
func (s *Shedder) Admitter(next weir.Admitter) weir.Admitter {
	if edge.IsExempt(next) {
		return nil
	}
	return admitter{s, next}
}

type admitter struct {
	shedder *Shedder
	next    weir.Admitter
}

func (a admitter) Acquire(ctx context.Context) (weir.Permit, error) {
	if err := a.shedder.Full(ctx); err != nil {
		return weir.Permit{}, err
	}
	return a.next.Acquire(ctx)
}

func (a admitter) AcquireN(ctx context.Context, weight int) (weir.Permit, error) {
	if err := a.shedder.Full(ctx); err != nil {
		return weir.Permit{}, err
	}
	return weir.AcquireN(ctx, a.next, weight)
}

func (a admitter) Full(ctx context.Context) error {
	if err := a.shedder.full(ctx, true); err != nil {
		return err
	}
	return weir.Full(ctx, a.next)
}

// Snapshot returns the limit of next for weirhttp, which lets uploads hold a part of it. It is zero
// if next has no limit to show.
func (a admitter) Snapshot() weir.Snapshot {
	if next, ok := a.next.(interface{ Snapshot() weir.Snapshot }); ok {
		return next.Snapshot()
	}
	return weir.Snapshot{}
}
