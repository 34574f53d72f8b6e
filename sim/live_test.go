package sim_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// TestSameAsLive runs the same requests through a live limiter in a bubble and through the
// simulation: the limit changes in the same way for the same reasons.
func TestSameAsLive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	trace, at := sim.Trace{}, 0.0
	for range 6000 {
		at += r.ExpFloat64() * 3e6
		work := 20 * time.Millisecond
		if d := time.Duration(at); d > 6*time.Second && d < 10*time.Second {
			work = 90 * time.Millisecond
		}
		trace = append(trace, sim.Arrival{At: time.Duration(at), Work: work + time.Duration(r.Int64N(10e6))})
	}
	for _, l := range []law.Law{law.Band{Target: 40 * time.Millisecond}, law.Setpoint{}, law.Little{}} {
		for _, queue := range []weir.Queue{
			{}, {Size: 10, Timeout: 15 * time.Millisecond}, {Discipline: weir.Adaptive, Timeout: 50 * time.Millisecond},
		} {
			sameAsLive(t, trace, l, queue)
		}
	}
}

func sameAsLive(t *testing.T, trace sim.Trace, l law.Law, queue weir.Queue) {
	t.Helper()
	simulated := must.Have(sim.Run(sim.Scenario{
		Name: "live", Trace: trace, Server: sim.WorkerPool{Workers: 1e5}, SLO: time.Hour,
		Clients: []sim.Client{{Untold: true}}, // like a context without a deadline
		Limiter: sim.Limiter{Initial: 4, Window: 2 * time.Second, Queue: sim.Queue{
			Size: queue.Size, Timeout: queue.Timeout, Adaptive: queue.Discipline == weir.Adaptive,
		}},
		Phases: []sim.Phase{{Length: time.Minute}},
	}, l, 1))(t)
	changes, refused := live(t, trace, weir.Config{Initial: 4, Law: l, Window: 2 * time.Second, Queue: queue})
	var want []weir.Change
	for _, c := range simulated.Changes {
		want = append(want, weir.Change{From: c.From, To: c.To, Reason: c.Reason})
	}
	if len(want) < 5 || !slices.Equal(changes, want) {
		t.Errorf("%v, queue %+v: live\n%v\nsimulated\n%v", l, queue, changes, want)
	}
	if refused != simulated.Refused || refused == 0 {
		t.Errorf("%v, queue %+v: live %d refused, simulated %d", l, queue, refused, simulated.Refused)
	}
}

// live returns the changes of a live limiter, without their time, and its refusals.
func live(t *testing.T, trace sim.Trace, config weir.Config) (changes []weir.Change, refused int) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		config.OnEvent = func(e weir.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Kind == weir.LimitChanged {
				changes = append(changes, weir.Change{From: e.Change.From, To: e.Change.To, Reason: e.Change.Reason})
			}
		}
		limiter, err := weir.New(config)
		if err != nil {
			t.Error(err)
			return
		}
		var all sync.WaitGroup
		for _, a := range trace {
			all.Go(func() {
				time.Sleep(a.At)
				permit, err := limiter.Acquire(t.Context())
				if errors.Is(err, weir.ErrRefused) {
					mu.Lock()
					refused++
					mu.Unlock()
					return
				}
				time.Sleep(a.Work)
				permit.Done(nil)
			})
		}
		all.Wait()
	})
	return changes, refused
}
