package storm

import (
	"context"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// Through returns a gate that admits operations of the given cost through a throttle.
func Through(th *throttle.Throttle, op throttle.Op, cost int) Gate {
	return func(ctx context.Context) (func(error), error) {
		permit, err := th.Acquire(ctx, op, cost)
		if err != nil {
			return nil, err
		}
		return permit.Done, nil
	}
}

// inFlight is the number of writes in the store at once. Badger commits batches one after
// another in one goroutine: writes beyond a batch only wait inside the store. With 8,
// batches were so small that storms lost 4% of their writes.
const inFlight = 16

// DrainRate returns a throttle that paces writes of the given cost at the rate that the
// source reports for its store, with a queue of the given size. It runs until ctx ends.
func DrainRate(ctx context.Context, source load.Source, waiting, cost int) (*throttle.Throttle, error) {
	mon, err := load.New(load.Config{Sources: []load.Source{source}})
	if err != nil {
		return nil, err
	}
	th, err := throttle.New(throttle.Config{
		Monitor: mon,
		Writes: throttle.Side{
			Laws:        []throttle.LoadLaw{throttle.DrainRate{}},
			Queue:       weir.Queue{Size: waiting, Timeout: patience},
			MaxInFlight: inFlight * cost,
		},
	})
	if err != nil {
		return nil, err
	}
	go func() { _ = mon.Run(ctx) }() // Run fails only if a poll hangs, and the storm shows that
	go func() { _ = th.Run(ctx) }()
	return th, nil
}

// patience is the longest wait of a write. It is longer than a store needs for the
// simultaneous writes of a thousand writers, so that overload appears as latency and not as
// refusals.
const patience = 10 * time.Second
