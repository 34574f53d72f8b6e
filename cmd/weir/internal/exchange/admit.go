package exchange

import (
	"cmp"
	"context"
	"math"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/slot"
)

// A refusedError is the refusal of a slot to a request.
type refusedError struct{ error }

// admit takes a slot of the gate. A conversation takes a stream slot instead. An upload, whose body
// streams, holds a slot within the uploads' part of the limit. A request for an upgrade counts as
// any other request until its upstream switches protocols, because most upstreams ignore unknown
// protocols.
func (x *exchange) admit() error {
	if x.upgrade {
		if err := weir.Full(x.asked, x.shared.sockets); err != nil {
			return err
		}
	}
	switch {
	case x.body.streams && x.converses:
		return x.begin()
	case x.body.streams:
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
	most := cmp.Or(x.route.config.Streams, math.MaxInt)
	if share, err = x.shared.streamsOf.take(x.route.config.Pattern(), x.who.Address, most); err != nil {
		return permit, nil, err
	}
	if permit, err = x.shared.streams.Acquire(ctx); err != nil {
		share()
	}
	return permit, share, err
}

// admitUpload takes a slot for an upload, which holds it until its response begins, within the part
// of the limit that uploads have. The gate learns nothing from an upload: the client determines its
// duration, and a slot that waits for a client is no load.
func (x *exchange) admitUpload() error {
	part := slot.Part(x.route.gate.Snapshot(), x.Uploads)
	share, err := x.shared.uploads.take(x.route.config.Compartment, x.who.Address, part)
	if err != nil {
		return err
	}
	if err := x.slot.Hold(x.asked, x.route.gate, share); err != nil {
		return err
	}
	x.slot.Measure(weir.Ignore)
	x.shared.counts.streamed.Add(1)
	return nil
}
