package exchange

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/slot"
)

// A refusedError is the refusal of a slot to a request.
type refusedError struct{ error }

// A noStreamError is the refusal of a stream to a response.
type noStreamError struct{ error }

func (e noStreamError) Unwrap() error { return e.error }

// admit takes a slot of the gate. A conversation takes a stream slot instead. An upload, whose
// body streams, holds a slot within the uploads' part of the limit.
func (x *exchange) admit(streams bool) error {
	switch {
	case x.upgrade:
		return x.begin(slot.Of(x.shared.sockets))
	case streams && x.converses:
		return x.begin(x.routeStreams)
	case streams:
		return x.admitUpload()
	}
	return x.slot.Hold(x.asked, x.route.gate, nil)
}

func (x *exchange) begin(of slot.Source) error {
	err := x.slot.Begin(x.asked, of, x.route.gate)
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

// settle releases the gate's slot and reports the outcome of the upstream's work.
func (x *exchange) settle(o weir.Outcome) {
	if o == weir.Success && errors.Is(x.in.Context().Err(), context.Canceled) {
		o = weir.Late
	}
	if x.slot.Finish(slot.Outcome{Outcome: o, ComeBack: x.comeBack}) {
		x.timeout.Stop()
	}
}

// becomeStream exchanges the gate's slot, if it is still held, for a stream slot.
func (x *exchange) becomeStream(of slot.Source, o weir.Outcome) error {
	exchanged, err := x.slot.Exchange(x.asked, of, slot.Outcome{Outcome: o, ComeBack: x.comeBack})
	if !exchanged {
		return nil
	}
	x.timeout.Stop()
	if err != nil && errors.Is(x.in.Context().Err(), context.Canceled) {
		return errClientLeft
	}
	if err != nil {
		x.shared.counts.noStream.Add(1)
		x.broken.Store(true) // unless the header can still be replaced
		return noStreamError{err}
	}
	x.shared.counts.exchanged.Add(1)
	if x.route.config.Leaves != leavesCancel { // otherwise the client is watched already
		x.watch()
	}
	return nil
}

// leavesCancel ends a request when its client leaves; see config.Route.Leaves.
const leavesCancel = "cancel"

// watch ends the request to the upstream when its client leaves. The server ends the client's
// context with each request, so nothing is kept for a connection that lasts.
func (x *exchange) watch() {
	context.AfterFunc(x.in.Context(), func() { x.cancel(errClientLeft) })
}
