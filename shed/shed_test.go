package shed_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/shed"
)

// dial is a source with a settable reading.
type dial struct{ bits atomic.Uint64 }

func (*dial) Name() string { return "dial" }

func (d *dial) set(v float64) { d.bits.Store(math.Float64bits(v)) }

func (d *dial) Poll(context.Context) (load.Sample, error) {
	v := math.Float64frombits(d.bits.Load())
	if v < 0 {
		return load.Sample{}, errors.New("out of order")
	}
	return load.Sample{Readings: []load.Reading{{Name: "dial", Value: v, Limit: 1}}}, nil
}

// watched runs a monitor in the bubble of the test, and returns a function to set its load.
func watched(t *testing.T, cfg shed.Config) (*shed.Shedder, func(load float64)) {
	t.Helper()
	source := &dial{}
	mon := must.Have(load.New(load.Config{Sources: []load.Source{source}}))(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- mon.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-done
	})
	s := must.Have(shed.New(mon, cfg))(t)
	return s, func(v float64) {
		source.set(v)
		time.Sleep(2 * time.Second) // of the bubble: polls come every 100 ms, and a reading is stale after one
	}
}

// refused asks a hundred times for each priority.
func refused(t *testing.T, a weir.Admitter) (shares map[weir.Priority]int) {
	t.Helper()
	shares = map[weir.Priority]int{}
	for p := weir.PriorityCritical - 1; p <= weir.PriorityLow+1; p++ {
		for range 100 {
			permit, err := a.Acquire(weir.WithPriority(t.Context(), p))
			if err != nil {
				shares[p]++
			}
			permit.Release()
		}
	}
	return shares
}

func TestTheLeastImportantIsShedFirst(t *testing.T) {
	for load, want := range map[float64][3]int{ // of low, normal and high
		0: {}, 0.99: {}, 1: {}, 1.1: {50}, 1.2: {100}, 1.26: {100, 20}, 1.5: {100, 100}, 1.75: {100, 100, 50},
		2: {100, 100, 100}, 1e9: {100, 100, 100},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, set := watched(t, shed.Config{})
			set(load)
			got := refused(t, s.Admitter(weir.Must(weir.New(weir.Config{}))))
			for i, p := range []weir.Priority{weir.PriorityLow, weir.PriorityNormal, weir.PriorityHigh} {
				if d := got[p] - want[i]; d < -1 || d > 1 {
					t.Errorf("load %v: %d of 100 of %v refused, want %d", load, got[p], p, want[i])
				}
			}
			if got[weir.PriorityCritical] != 0 || got[weir.PriorityCritical-1] != 0 || got[weir.PriorityLow+1] != got[weir.PriorityLow] && load != 1.1 {
				t.Errorf("load %v: %v", load, got)
			}
			if snap := s.Snapshot(); snap.Load != load || snap.High != uint64(got[weir.PriorityHigh]) ||
				snap.Low != uint64(got[weir.PriorityLow]+got[weir.PriorityLow+1]) {
				t.Errorf("load %v: snapshot %+v after %v", load, snap, got)
			}
		})
	}
}

// Refusals are spread evenly, and the same each time.
func TestSheddingIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, set := watched(t, shed.Config{})
		set(1.05)
		low := weir.WithPriority(t.Context(), weir.PriorityLow)
		var got strings.Builder
		for range 12 {
			if s.Full(low) != nil {
				got.WriteByte('x')
			} else {
				got.WriteByte('.')
			}
		}
		if want := "...x...x...x"; got.String() != want {
			t.Errorf("got %s, want %s", got.String(), want)
		}
	})
}

// A tap of a server asks first, and an interceptor asks again for work that passed. That is
// still one piece of work.
func TestAskingFirstShedsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, set := watched(t, shed.Config{})
		set(1.05)
		a := s.Admitter(weir.Must(weir.New(weir.Config{})))
		low := weir.WithPriority(t.Context(), weir.PriorityLow)
		for _, together := range []int{1, 100} {
			before := s.Snapshot().Low
			for range 400 / together {
				passed := 0
				for range together {
					if weir.Full(low, a) == nil {
						passed++
					}
				}
				for range passed {
					permit, _ := a.Acquire(low)
					permit.Release()
				}
			}
			if shed := s.Snapshot().Low - before; shed != 100 {
				t.Errorf("%d at a time: %d of 400 refused, want 100", together, shed)
			}
		}
	})
}

func TestShedWorkIsRefusedEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, set := watched(t, shed.Config{Name: "cpu"})
		lim := weir.Must(weir.New(weir.Config{}))
		a := s.Admitter(lim)
		ask := func() []error {
			one, first := a.Acquire(nil) //nolint:staticcheck // a nil context is one of PriorityNormal
			one.Release()
			heavy, second := weir.AcquireN(t.Context(), a, 2)
			heavy.Release()
			return []error{first, second, weir.Full(t.Context(), a), s.Full(t.Context())}
		}
		if errs := ask(); errors.Join(errs...) != nil {
			t.Errorf("without load: %v", errs)
		}
		set(2)
		before := lim.Snapshot()
		for _, err := range ask() {
			refused, is := errors.AsType[*weir.RefusedError](err)
			if !is || !errors.Is(err, weir.ErrOverload) || refused.Limiter != "cpu" ||
				refused.RetryAfter != time.Second {
				t.Errorf("refused with %v", err)
			}
		}
		if after := lim.Snapshot(); after.Admitted != before.Admitted {
			t.Errorf("the limiter admitted %d", after.Admitted-before.Admitted)
		}
	})
}

func TestASignalThatIsLostShedsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, set := watched(t, shed.Config{})
		set(2)
		if s.Full(t.Context()) == nil {
			t.Fatal("nothing is shed")
		}
		set(-1)
		if err := s.Full(t.Context()); err != nil {
			t.Errorf("shed by what is stale: %v", err)
		}
	})
}

func TestBadSettings(t *testing.T) {
	mon := must.Have(load.New(load.Config{Sources: []load.Source{&dial{}}}))(t)
	if _, err := shed.New(nil, shed.Config{}); !errors.Is(err, weir.ErrConfig) {
		t.Errorf("a nil monitor: %v", err)
	}
	s := must.Have(shed.New(mon, shed.Config{}))(t)
	if s.Admitter(nil) != nil || s.Admitter((*weir.Limiter)(nil)) != nil {
		t.Error("what is exempt is shed")
	}
	lim := weir.Must(weir.New(weir.Config{Initial: 10}))
	for next, want := range map[weir.Admitter]int{lim: 10, struct{ weir.Admitter }{lim}: 0} {
		if got := s.Admitter(next).(interface{ Snapshot() weir.Snapshot }).Snapshot().Limit; got != want {
			t.Errorf("a limit of %d, want %d", got, want)
		}
	}
}

// Requests of one moment ask the monitor once: it has a lock that all share.
func TestAFreshLevelIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, set := watched(t, shed.Config{})
		set(1.1)
		if n := testing.AllocsPerRun(100, func() { _ = s.Full(t.Context()) }); n != 0 {
			t.Errorf("%v allocations, want none", n)
		}
	})
}
