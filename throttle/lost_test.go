package throttle_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// TestLostSignalsSayWhy: the log has the cause, and no line for the moment before the first answer.
func TestLostSignalsSayWhy(t *testing.T) {
	for name, test := range map[string]struct {
		poll func() (load.Sample, error)
		want string // of both sides; "" for no event
	}{
		"slow at first": {func() (load.Sample, error) { time.Sleep(500 * time.Millisecond); return sampled(0.2), nil }, ""},
		"denied":        {func() (load.Sample, error) { return load.Sample{}, errors.New("permission denied") }, "degraded, by symptoms: load: stale: source \"plant\": permission denied"},
		"never answers": {func() (load.Sample, error) { time.Sleep(time.Hour); return load.Sample{}, nil }, "has not answered yet"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told atomic.Int64
				p := &plant{}
				p.become(test.poll)
				mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: p}}})
				if err != nil {
					t.Fatal(err)
				}
				th, err := throttle.New(throttle.Config{Monitor: mon, OnEvent: func(e throttle.Event) {
					told.Add(1)
					if test.want == "" || !strings.Contains(e.String(), test.want) || e.Err == nil {
						t.Errorf("said %q", e)
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				go mon.Run(ctx)
				go th.Run(ctx)
				time.Sleep(5 * time.Second)
				if got := told.Load(); (test.want == "") != (got == 0) || got > 2 {
					t.Errorf("%d events", got)
				}
				cancel()
				th.Close()
				time.Sleep(2 * time.Hour)
			})
		})
	}
}
