package metrics_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"sync"
	"testing"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/shed"
	"github.com/weir-go/weir/throttle"
)

// Each type with a snapshot is printed as JSON while it works. The race detector looks for the
// fields that are read without their lock.
func TestSnapshotsArePrinted(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{MaxKeys: 2}))(t)
	slots := must.Have(capacity.New(capacity.Vector{"slots": 1}))(t)
	tasks := must.Have(pool.New(pool.Config{Capacity: slots, Source: pool.Slice([]pool.Task{{Run: func(context.Context) (any, error) { return nil, nil }}})}))(t)
	governor := must.Have(memory.New(memory.Config{Target: 64 << 20}))(t)
	defer governor.Close()
	monitor := must.Have(load.New(load.Config{Sources: []load.Source{&load.CPU{}}}))(t)
	pace := must.Have(throttle.New(throttle.Config{Monitor: monitor}))(t)
	shedder := must.Have(shed.New(monitor, shed.Config{}))(t)
	client := must.Have(retry.New(retry.Config{}))(t)

	ctx := t.Context()
	nothing := func(context.Context) error { return nil }
	for _, test := range []struct {
		owner expvar.Var
		work  func() error
	}{
		{set, func() error { return set.Do(ctx, "a", nothing) }},
		{slots, func() error { return slots.SetLimit("slots", 2) }},
		{tasks, func() (err error) {
			for _, err = range tasks.Run(ctx) {
			}
			return err
		}},
		{governor, func() error {
			hold, err := governor.Acquire(ctx, 1)
			defer hold.Release()
			return err
		}},
		{monitor, func() error {
			soon, stop := context.WithCancel(ctx)
			stop()
			return monitor.Run(soon)
		}},
		{pace, func() error { return pace.Do(ctx, throttle.Write, 1, nothing) }},
		{shedder, func() error {
			_ = shedder.Full(ctx) // a busy machine refuses
			return nil
		}},
		{client, func() error { return client.Do(ctx, nothing) }},
	} {
		var working sync.WaitGroup
		working.Go(func() {
			if err := test.work(); err != nil {
				t.Errorf("%T: %v", test.owner, err)
			}
		})
		for range 10 {
			if text := fmt.Sprint(test.owner); !json.Valid([]byte(text)) {
				t.Errorf("%T is printed as %s, want JSON", test.owner, text)
			}
		}
		working.Wait()
	}
}
