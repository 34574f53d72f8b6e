package stress

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// TestStress makes real goroutines do everything at once. It is for the race detector, and
// for the sums at the end.
func TestStress(t *testing.T) {
	for name, c := range map[string]weir.Config{
		"fifo":     {Queue: weir.Queue{Size: 10, Timeout: 300 * time.Microsecond}},
		"adaptive": {Queue: weir.Queue{Discipline: weir.Adaptive, Timeout: 300 * time.Microsecond}},
		"no queue": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Initial, c.Max, c.MinSamples, c.Interval = 6, 8, 5, 50*time.Microsecond
			c.Law, c.Histograms = law.Band{Target: 30 * time.Microsecond}, true
			newStress(t, c).run()
		})
	}
}

// A stress counts the results of requests of many goroutines, and compares them with the
// limiter's counts.
type stress struct {
	*testing.T
	conf weir.Config
	lim  *weir.Limiter

	running, asked, ran, panicked, refused, cancelled, events atomic.Int64
}

func newStress(t *testing.T, c weir.Config) *stress {
	s := &stress{T: t}
	c.OnEvent = func(e weir.Event) {
		if e.Kind == weir.Refused {
			s.events.Add(1)
		}
	}
	s.conf, s.lim = c, weir.Must(weir.New(c))
	return s
}

func (s *stress) run() {
	const goroutines, each = 32, 300
	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() {
			r := rand.New(rand.NewPCG(47, uint64(i)))
			for n := range each {
				s.count(s.request(r))
				if i == 0 && n%10 == 0 {
					s.update(n)
				}
				if n%20 == 0 {
					s.look()
				}
			}
		})
	}
	all.Wait()
	s.check()
}

// look reads the state, which is of one moment.
func (s *stress) look() {
	snap := s.lim.Snapshot()
	if snap.Latencies.Count != snap.Succeeded || snap.Peak < snap.InFlight {
		s.Errorf("%+v: want a snapshot of one moment", snap)
	}
	if text := s.lim.String(); !json.Valid([]byte(text)) {
		s.Errorf("not JSON: %s", text)
	}
	_ = s.lim.History()
}

// request asks for a permit in one of several ways, and works if it gets one.
func (s *stress) request(r *rand.Rand) (err error) {
	s.asked.Add(1)
	defer func() {
		if v := recover(); v != nil {
			s.panicked.Add(1)
		}
	}()
	ctx, cancel := context.WithCancel(weir.WithPriority(s.Context(), weir.Priority(r.IntN(4)-2)))
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
		return s.lim.Do(ctx, func(ctx context.Context) error { return s.work(ctx, r) })
	}
	permit, err := s.lim.AcquireN(ctx, 1+r.IntN(3))
	if err != nil {
		return err
	}
	defer permit.DoneWith(&err)
	return s.work(ctx, r)
}

// work ends well, with an error or with a panic.
func (s *stress) work(ctx context.Context, r *rand.Rand) error {
	if n := s.running.Add(1); n > 8 {
		s.Errorf("%d at work under a maximum of 8", n)
	}
	defer s.running.Add(-1)
	s.ran.Add(1)
	for range r.IntN(5) {
		runtime.Gosched()
	}
	switch r.IntN(10) {
	case 0:
		panic(s)
	case 1:
		return errors.New("boom")
	}
	return ctx.Err()
}

func (s *stress) count(err error) {
	switch {
	case errors.Is(err, weir.ErrRefused):
		s.refused.Add(1)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		s.cancelled.Add(1) // in the queue or at work
	}
}

func (s *stress) update(n int) {
	c := s.conf
	c.Max = 4 + n%5
	c.Initial = 0
	if n%20 == 0 {
		c.Law = law.Fixed{}
	}
	if err := s.lim.Update(c); err != nil {
		s.Error(err)
	}
}

// check compares the sums once all requests have ended.
func (s *stress) check() {
	limittest.Balanced(s.T, s.lim.Snapshot())
	snap := s.lim.Snapshot()
	if total := snap.Admitted + snap.RefusedTotal() + snap.Cancelled; total != uint64(s.asked.Load()) {
		s.Errorf("%d asked, but %d admitted, %d refused and %d cancelled are %d",
			s.asked.Load(), snap.Admitted, snap.RefusedTotal(), snap.Cancelled, total)
	}
	// Some left in the instant of their admission.
	if late := int64(snap.Admitted) - s.ran.Load(); late < 0 || late > int64(snap.Ignored) {
		s.Errorf("%d admitted, %d ran, %d ignored", snap.Admitted, s.ran.Load(), snap.Ignored)
	}
	if snap.RefusedTotal() != uint64(s.refused.Load()) || snap.RefusedTotal() != uint64(s.events.Load()) {
		s.Errorf("%d refused, %d heard so, %d events",
			snap.RefusedTotal(), s.refused.Load(), s.events.Load())
	}
	if s.panicked.Load() == 0 || s.refused.Load() == 0 || s.cancelled.Load() == 0 {
		s.Errorf("not much of a stress: %d panics, %d refusals, %d cancellations",
			s.panicked.Load(), s.refused.Load(), s.cancelled.Load())
	}
	if err := s.lim.Shutdown(s.Context()); err != nil {
		s.Error(err)
	}
}

// Updates at the same time leave one of the configurations, not a mixture, at every moment.
func TestUpdatesAreWhole(t *testing.T) {
	l := weir.Must(weir.New(weir.Config{Name: "a", Max: 10}))
	for range 10_000 {
		var all sync.WaitGroup
		all.Go(func() { _ = l.Update(weir.Config{Name: "a", Max: 10}) })
		all.Go(func() { _ = l.Update(weir.Config{Name: "b", Max: 20}) })
		all.Go(func() {
			if c := l.Config(); (c.Name == "a") != (c.Max == 10) {
				t.Errorf("%q with Max %d", c.Name, c.Max)
			}
		})
		all.Wait()
		if s := l.Snapshot(); (s.Name == "a") != (s.Max == 10) {
			t.Fatalf("name %q with maximum %d", s.Name, s.Max)
		}
	}
}
