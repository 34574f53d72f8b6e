package weir_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// TestStress has real goroutines do everything at once. It is for the race
// detector, and for the sums at the end.
func TestStress(t *testing.T) {
	for name, c := range map[string]weir.Config{
		"fifo":     {Queue: weir.Queue{Size: 10, Timeout: 300 * time.Microsecond}},
		"adaptive": {Queue: weir.Queue{Discipline: weir.Adaptive, Timeout: 300 * time.Microsecond}},
		"no queue": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Initial, c.Max, c.MinSamples, c.Interval = 6, 8, 5, 50*time.Microsecond
			c.Law = law.Band{Target: 30 * time.Microsecond}
			stress(t, c)
		})
	}
}

func stress(t *testing.T, c weir.Config) {
	const goroutines, each = 32, 300
	var running, asked, ran, panicked, refused, cancelled atomic.Int64
	var events atomic.Int64
	c.OnEvent = func(e weir.Event) {
		if e.Kind == weir.Refused {
			events.Add(1)
		}
	}
	l := newLimiter(t, c)
	work := func(r *rand.Rand) func(context.Context) error {
		return func(ctx context.Context) error {
			if n := running.Add(1); n > 8 {
				t.Errorf("%d at work under a maximum of 8", n)
			}
			defer running.Add(-1)
			ran.Add(1)
			for range r.IntN(5) {
				runtime.Gosched()
			}
			switch r.IntN(10) {
			case 0:
				panic(t)
			case 1:
				return errors.New("boom")
			}
			return ctx.Err()
		}
	}
	one := func(r *rand.Rand) (err error) {
		defer func() {
			if v := recover(); v != nil {
				panicked.Add(1)
			}
		}()
		ctx, cancel := context.WithCancel(weir.WithPriority(t.Context(), weir.Priority(r.IntN(4)-2)))
		defer cancel()
		switch r.IntN(4) {
		case 0:
			ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(1000))*time.Microsecond)
			defer cancel()
		case 1:
			go func() {
				runtime.Gosched()
				cancel()
			}()
		}
		if r.IntN(3) > 0 {
			return l.Do(ctx, work(r))
		}
		permit, err := l.AcquireN(ctx, 1+r.IntN(3))
		if err != nil {
			return err
		}
		defer permit.DoneWith(&err)
		return work(r)(ctx)
	}

	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() {
			r := rand.New(rand.NewPCG(47, uint64(i)))
			for n := range each {
				asked.Add(1)
				err := one(r)
				switch {
				case errors.Is(err, weir.ErrRefused):
					refused.Add(1)
				case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
					cancelled.Add(1) // in the queue or at work
				}
				if i == 0 && n%10 == 0 {
					u := c
					u.Max = 4 + n%5
					u.Initial = 0
					if n%20 == 0 {
						u.Law = law.Fixed{}
					}
					if err := l.Update(u); err != nil {
						t.Error(err)
					}
				}
				if n%20 == 0 {
					_ = l.String()
					_ = l.History()
				}
			}
		})
	}
	all.Wait()

	balanced(t, l)
	s := l.Snapshot()
	if total := s.Admitted + s.RefusedTotal() + s.Cancelled; total != uint64(asked.Load()) {
		t.Errorf("%d asked, but %d admitted, %d refused and %d cancelled are %d",
			asked.Load(), s.Admitted, s.RefusedTotal(), s.Cancelled, total)
	}
	// Some left in the instant of their admission.
	if late := int64(s.Admitted) - ran.Load(); late < 0 || late > int64(s.Ignored) {
		t.Errorf("%d admitted, %d ran, %d ignored", s.Admitted, ran.Load(), s.Ignored)
	}
	if s.RefusedTotal() != uint64(refused.Load()) || s.RefusedTotal() != uint64(events.Load()) {
		t.Errorf("%d refused, %d heard so, %d events", s.RefusedTotal(), refused.Load(), events.Load())
	}
	if panicked.Load() == 0 || refused.Load() == 0 || cancelled.Load() == 0 {
		t.Errorf("not much of a stress: %d panics, %d refusals, %d cancellations",
			panicked.Load(), refused.Load(), cancelled.Load())
	}
	if err := l.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
