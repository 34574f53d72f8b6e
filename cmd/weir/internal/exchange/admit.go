package exchange

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/weir-go/weir"
)

// admit takes a slot of the gate. A conversation takes a stream slot instead. It also asks
// the gate, so that an overloaded upstream begins no conversation, but returns the gate's
// slot at once. An upload, whose body streams, holds a slot within the uploads' part of the
// limit.
func (x *exchange) admit(stream bool) (err error) {
	ctx := x.in.Context()
	switch {
	case !stream:
		x.permit, err = x.route.gate.Acquire(ctx)
		x.slot.held = err == nil
		return err
	case !x.upgrade && !x.converses:
		return x.admitUpload(ctx)
	}
	of := x.shared.streams
	if x.upgrade {
		of = x.shared.sockets
	}
	release, err := x.takeStream(of)
	if err != nil {
		return err
	}
	x.slot.keep(release)
	if x.permit, err = x.route.gate.Acquire(ctx); err != nil {
		return err
	}
	x.permit.Release()
	x.shared.counts.streamed.Add(1)
	return nil
}

// takeStream takes a slot of a stream cap, within the route's part.
func (x *exchange) takeStream(of *weir.Limiter) (release func(), err error) {
	leave := func() {}
	if of == x.shared.streams {
		route := x.route.config.Pattern()
		most := cmp.Or(int64(x.route.config.Streams), math.MaxInt64)
		if !x.shared.streamsOf.Take(route, 1, most, math.MaxInt64) {
			return nil, &weir.RefusedError{Limiter: "streams", Reason: weir.ReasonTenantShare}
		}
		leave = func() { x.shared.streamsOf.Give(route, 1) }
	}
	permit, err := of.Acquire(x.in.Context())
	if err != nil {
		leave()
		return nil, err
	}
	return func() { permit.Release(); leave() }, nil
}

// settle releases the gate's slot and reports the outcome of the upstream's work. It returns
// false if the slot was not held.
func (x *exchange) settle(o weir.Outcome) bool {
	if !x.slot.release() {
		return false
	}
	x.timeout.Stop()
	if o == weir.Overloaded {
		x.permit.Pushback(x.comeBack)
	}
	x.permit.Finish(o)
	return true
}

// becomeStream exchanges the gate's slot, if it is still held, for a stream slot. If there is
// no stream slot, the gate's slot is released anyway, because the client may also read the
// refusal slowly.
func (x *exchange) becomeStream(of *weir.Limiter, o weir.Outcome) error {
	if !x.settle(o) {
		return nil
	}
	release, err := x.takeStream(of)
	if err != nil && errors.Is(x.in.Context().Err(), context.Canceled) {
		return errClientLeft
	}
	if err != nil {
		x.shared.counts.noStream.Add(1)
		x.slot.breakOff() // unless the header can still be replaced
		return noStreamError{err}
	}
	x.shared.counts.exchanged.Add(1)
	x.slot.keep(release)
	if x.route.config.Leaves != leavesCancel { // otherwise the client is watched already
		x.watch()
	}
	return nil
}

// leavesCancel ends a request when its client leaves; see config.Route.Leaves.
const leavesCancel = "cancel"

// watch ends the request to the upstream when its client leaves.
func (x *exchange) watch() {
	x.slot.watch(context.AfterFunc(x.in.Context(), func() { x.cancel(errClientLeft) }))
}

// A noStreamError is the refusal of a stream to a response.
type noStreamError struct{ error }

func (e noStreamError) Unwrap() error { return e.error }
