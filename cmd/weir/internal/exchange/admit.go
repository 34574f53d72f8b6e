package exchange

import (
	"cmp"
	"context"
	"math"

	"github.com/weir-go/weir"
)

// A refusedError is the refusal of a slot to a request.
type refusedError struct{ error }

// admit takes a slot of the gate. A conversation takes a stream slot instead. An upload, whose
// body streams, holds a slot within the uploads' part of the limit. A request for an upgrade is
// one like others until its upstream switches, for most ignore protocols that they do not know.
func (x *exchange) admit(streams bool) error {
	if x.upgrade {
		if err := weir.Full(x.asked, x.shared.sockets); err != nil {
			return err
		}
	}
	switch {
	case streams && x.converses:
		return x.begin()
	case streams:
		return x.admitUpload()
	}
	return x.slot.Hold(x.asked, x.route.gate, nil)
}

func (x *exchange) begin() error {
	err := x.slot.Begin(x.asked, x.routeStreams, x.route.gate)
	if err == nil {
		x.shared.counts.streamed.Add(1)
	}
	return err
}

// routeStreams takes a stream slot within the route's part.
func (x *exchange) routeStreams(ctx context.Context) (permit weir.Permit, share func(), err error) {
	route, of := x.route.config.Pattern(), &x.shared.streamsOf
	most := cmp.Or(int64(x.route.config.Streams), math.MaxInt64)
	if !of.Take(route, 1, most, math.MaxInt64) {
		return permit, nil, &weir.RefusedError{Limiter: "streams", Reason: weir.ReasonTenantShare}
	}
	share = func() { of.Give(route, 1) }
	if permit, err = x.shared.streams.Acquire(ctx); err != nil {
		share()
	}
	return permit, share, err
}
