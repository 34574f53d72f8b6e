package weirtemporal

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
)

// phase is how long the downstream is fast, slow, and fast again.
const phase = time.Minute

// A trial is a downstream that runs 20 activities at once, for 100 ms each, and in the second phase
// for a third of a second. An activity has a second, with its wait.
type trial struct {
	free  chan struct{}
	began time.Time

	issued     atomic.Int64
	done, late [3]atomic.Int64
}

func (d *trial) phase() int { return min(int(time.Since(d.began)/phase), 2) }

func (d *trial) serve(ctx context.Context) (err error) {
	began := d.phase()
	defer func() {
		if err == nil {
			d.done[d.phase()].Add(1)
		} else {
			d.late[began].Add(1)
		}
	}()
	select {
	case d.free <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.free }()
	takes := 100 * time.Millisecond
	if d.phase() == 1 {
		takes = takes * 10 / 3
	}
	select {
	case <-time.After(takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reservation is the SDK's description of a slot that it asks for.
type reservation struct {
	worker.SlotReservationInfo
	trial *trial
}

func (r reservation) NumIssuedSlots() int                 { return int(r.trial.issued.Load()) }
func (reservation) Logger() log.Logger                    { return log.NewStructuredLogger(nil) }
func (reservation) MetricsHandler() client.MetricsHandler { return client.MetricsNopHandler }

type release struct {
	worker.SlotReleaseInfo
	permit *worker.SlotPermit
}

func (r release) Permit() *worker.SlotPermit { return r.permit }

// idle is a machine whose processor and memory are used by a fifth: its activities wait for others.
type idle struct{}

func (idle) MemoryUsage(*worker.SysInfoContext) (float64, error) { return 0.2, nil }
func (idle) CpuUsage(*worker.SysInfoContext) (float64, error)    { return 0.2, nil } //nolint:staticcheck // the name of the SDK

// try runs endless activities in slots of a supplier.
func try(t *testing.T, supplier func() (worker.SlotSupplier, error)) *trial {
	t.Helper()
	d := &trial{}
	synctest.Test(t, func(t *testing.T) {
		d.free, d.began = make(chan struct{}, 20), time.Now()
		ctx, stop := context.WithTimeout(t.Context(), 3*phase)
		defer stop()
		s := must.Have(supplier())(t)
		var all sync.WaitGroup
		for ctx.Err() == nil {
			permit, err := s.ReserveSlot(ctx, reservation{trial: d})
			if err != nil {
				break
			}
			d.issued.Add(1)
			all.Go(func() {
				within, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				work(within, s, d)
				d.issued.Add(-1)
				s.ReleaseSlot(release{permit: permit})
			})
		}
		all.Wait()
	})
	return d
}

// work does an activity, and tells our slots as the interceptor does.
func work(ctx context.Context, s worker.SlotSupplier, d *trial) {
	slots, ours := s.(*Slots)
	if !ours {
		_ = d.serve(ctx)
		return
	}
	permit, err := slots.begin(ctx)
	if err != nil {
		_ = d.serve(ctx)
		return
	}
	slots.end(permit, outcome(ctx, d.serve(ctx)))
}

// TestTuners compares slots that follow a limiter with a fixed number, which River has too, and
// with the SDK's own tuner, before a downstream that slows down and comes back.
//
//	scripts/all go test ./weirtemporal -run Tuners -v
func TestTuners(t *testing.T) {
	tuned := func(pause time.Duration) func() (worker.SlotSupplier, error) {
		return func() (worker.SlotSupplier, error) {
			o := worker.DefaultResourceControllerOptions()
			o.InfoSupplier = idle{}
			slots := worker.DefaultActivityResourceBasedSlotSupplierOptions()
			slots.RampThrottle = pause
			return worker.NewResourceBasedSlotSupplier(worker.NewResourceController(o), slots)
		}
	}
	fixed := func(n int) func() (worker.SlotSupplier, error) {
		return func() (worker.SlotSupplier, error) { return worker.NewFixedSizeSlotSupplier(n) }
	}
	best := try(t, fixed(20))
	for _, c := range []struct {
		name     string
		supplier func() (worker.SlotSupplier, error)
		least    float64 // of the best fixed number, in each phase
		late     float64 // of the activities time out at most
	}{
		{"a fixed 100", fixed(100), 0, 1},
		{"the tuner of Temporal", tuned(50 * time.Millisecond), 0, 1},
		{"the tuner of Temporal, with 1 ms between slots", tuned(time.Millisecond), 0, 1},
		{"slots of a limiter", func() (worker.SlotSupplier, error) {
			return New(weir.Must(weir.New(weir.Config{Name: "downstream"}))), nil
		}, 0.85, 0.05}, // which goroutine goes first decides: 72 runs had 0.90 to 0.96 in the slow phase
	} {
		d := try(t, c.supplier)
		var of, late [3]float64
		for i := range of {
			done := float64(d.done[i].Load())
			of[i], late[i] = done/float64(best.done[i].Load()), float64(d.late[i].Load())/(done+float64(d.late[i].Load()))
			if of[i] < c.least || late[i] > c.late {
				t.Errorf("%s, phase %d: %.2f of the best number and %.2f time out: want %v and %v", c.name, i, of[i], late[i], c.least, c.late)
			}
		}
		t.Logf("%s: %.2f of the best number, %.2f of the activities time out", c.name, of, late)
	}
}
