package storm

import (
	"context"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// Through is the gate of a throttle for operations of the given cost.
func Through(th *throttle.Throttle, op throttle.Op, cost int) Gate {
	return func(ctx context.Context) (func(error), error) {
		permit, err := th.Start(ctx, op, cost)
		if err != nil {
			return nil, err
		}
		return permit.Done, nil
	}
}

// inFlight is how many writes are in the store at once. Badger commits them one batch after
// another, in one goroutine: what is more than a batch only waits inside. With 8, batches were so
// small that storms lost 4% of their writes.
const inFlight = 16

// DrainRate returns a throttle that paces writes of the given cost at what the source says that its
// store digests, with room for so many that wait. It runs until ctx ends.
func DrainRate(ctx context.Context, source load.Source, waiting, cost int) (*throttle.Throttle, error) {
	mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: source}}})
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
	go func() { _ = mon.Run(ctx) }() // its error says that a poll hangs, which shows
	go func() { _ = th.Run(ctx) }()
	return th, nil
}

// patience is how long a write may wait. It is more than a store needs for what a thousand writers
// ask for at once, so that the wait shows in full and not as refusals.
const patience = 10 * time.Second
