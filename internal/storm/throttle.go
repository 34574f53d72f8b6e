package storm

import (
	"context"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// Through is the gate of a throttle.
func Through(th *throttle.Throttle, op throttle.Op) Gate {
	return func(ctx context.Context) (func(error), error) {
		permit, err := th.Start(ctx, op, 1)
		if err != nil {
			return nil, err
		}
		return permit.Done, nil
	}
}

const (
	// Tick is how often the store is asked and the pace decided: several times for each
	// table that is flushed.
	Tick = 20 * time.Millisecond

	// inFlight is how many writes are in the store at once. It commits them one batch after
	// another, in one goroutine: what is more than a batch only waits inside.
	inFlight = 8
)

// DrainRate returns a throttle that paces writes at what the source says that its store digests, with room for
// so many that wait. It runs until ctx ends.
func DrainRate(ctx context.Context, source load.Source, waiting int) (*throttle.Throttle, error) {
	mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: source}}, Interval: Tick})
	if err != nil {
		return nil, err
	}
	th, err := throttle.New(throttle.Config{
		Monitor: mon,
		Writes: throttle.Side{
			Laws:        []throttle.LoadLaw{throttle.DrainRate{}},
			Queue:       weir.Queue{Size: waiting, Timeout: time.Second},
			MaxInFlight: inFlight,
		},
		Tick: Tick,
	})
	if err != nil {
		return nil, err
	}
	go func() { _ = mon.Run(ctx) }() // its error says that a poll hangs, which shows
	go func() { _ = th.Run(ctx) }()
	return th, nil
}
