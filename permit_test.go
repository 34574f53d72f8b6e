package weir_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// Copies are for the same work: the second to be given back does nothing, even while other
// work uses the record of the first.
func TestCopiesAreBackOnce(t *testing.T) {
	l := fixed(t, 7, weir.Queue{})
	p := hold(t, l, 1)[0]
	heavy, err := l.AcquireN(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	twin := p
	p.Done(nil)
	others := hold(t, l, 2)
	for _, copied := range []weir.Permit{p, twin} {
		copied.Done(errors.New("boom"))
		copied.DoneWith(nil)
		copied.Release()
		copied.Finish(weir.Failure)
	}
	if s := l.Snapshot(); s.InFlight != 7 || s.Completed != 1 || s.Failed != 0 {
		t.Errorf("%d in flight, %d completed, %d failed: want 7, 1 and 0", s.InFlight, s.Completed, s.Failed)
	}
	if _, err := l.TryAcquire(t.Context()); err == nil {
		t.Error("a copy won a slot")
	}
	for _, p := range append(others, heavy) {
		p.Done(nil)
	}
	balanced(t, l)
}

// The zero permit, such as the one that comes with a refusal, is back.
func TestPermitZeroIsBack(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	hold(t, l, 1)
	refused, _ := l.TryAcquire(t.Context())
	for _, p := range []weir.Permit{{}, refused} {
		err := errors.New("boom")
		p.Done(nil)
		p.DoneWith(nil)
		p.DoneWith(&err)
		p.Finish(weir.Failure)
		p.Measure(weir.Success)
		p.Release()
		if err := p.SetWeight(1); err != nil || p.Waited() != 0 {
			t.Errorf("%v, waited %v", err, p.Waited())
		}
	}
	if n := l.Snapshot().InFlight; n != 1 {
		t.Errorf("%d in flight: want 1", n)
	}
	if recovered, _ := unwind(func() {
		defer weir.Permit{}.DoneWith(nil)
		panic("odd")
	}); recovered != "odd" {
		t.Errorf("recovered %v: want the panic to go on", recovered)
	}
}

func TestDoneWithReadsTheErrorLate(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	work := func(result error) (err error) {
		permit, err := l.Acquire(t.Context())
		if err != nil {
			return err
		}
		defer permit.DoneWith(&err)
		return result
	}
	if work(nil) != nil || work(errors.New("boom")) == nil {
		t.Error("the error was lost")
	}
	hold(t, l, 1)[0].DoneWith(nil)
	if s := l.Snapshot(); s.Failed != 1 || s.Samples != 2 {
		t.Errorf("%d failed, %d succeeded: want 1 and 2", s.Failed, s.Samples)
	}
	balanced(t, l)
}

func TestOutcomeOutOfRangeIsIgnored(t *testing.T) {
	l := fixed(t, 2, weir.Queue{})
	permits := hold(t, l, 2)
	permits[0].Finish(weir.Outcome(200))
	permits[1].Measure(weir.Outcome(200))
	permits[1].Done(nil)
	if s := l.Snapshot(); s.Ignored != 2 || s.Samples != 0 {
		t.Error(l)
	}
	balanced(t, l)
}

func TestReleaseTeachesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Law: watching(&windows), MinSamples: 1})
		p := hold(t, l, 1)[0]
		time.Sleep(time.Second)
		p.Release()
		s := l.Snapshot()
		if s.Samples != 0 || s.EWMA != 0 || s.P95 != 0 || s.ErrorRate != 0 || s.Ignored != 1 || s.Completed != 1 {
			t.Error(l)
		}
		p = hold(t, l, 1)[0]
		time.Sleep(10 * time.Second)
		p.Release()
		for _, w := range windows {
			if w.Completed() != 0 || w.Mean != 0 {
				t.Errorf("the law was shown %+v", w)
			}
		}
	})
}

// A permit is passed by value, which go vet accepts.
func TestPermitIsSmall(t *testing.T) {
	if size, most := unsafe.Sizeof(weir.Permit{}), 4*unsafe.Sizeof(uint64(0)); size > most {
		t.Errorf("a permit takes %d bytes: want at most %d", size, most)
	}
}

// A breaker gets the outcome when it is measured, and only then.
func TestMeasureTellsTheBreaker(t *testing.T) {
	b := &breaker{}
	l := newLimiter(t, weir.Config{Breaker: b})
	p := hold(t, l, 1)[0]
	p.Measure(weir.Timeout)
	b.heard(t, weir.Timeout)
	p.Measure(weir.Success)
	p.Done(errors.New("boom"))
	p.Measure(weir.Success)
	b.heard(t, weir.Timeout)
	balanced(t, l)
}

// A hook that panics at a Measure or at a SetWeight does not keep the outcome from the
// breaker, and leaves the permit usable.
func TestPanicAtAMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := false
		b := &breaker{}
		up := 1
		l := newLimiter(t, weir.Config{
			MinSamples: 1, Interval: time.Millisecond, Breaker: b,
			Law: script(func(w law.Window) law.Decision {
				up = -up
				return law.Decision{Limit: float64(w.Limit + up)}
			}),
			OnEvent: func(weir.Event) {
				if panics {
					panic("boom")
				}
			},
		})
		p := hold(t, l, 1)[0]
		try := func(call func()) (panicked bool) {
			time.Sleep(time.Minute)
			panics = true
			defer func() { panics, panicked = false, recover() != nil }()
			call()
			return false
		}
		if !try(func() { p.Measure(weir.Failure) }) || !try(func() { _ = p.SetWeight(3) }) {
			t.Error("the panic did not go on")
		}
		b.heard(t, weir.Failure)
		if s := l.Snapshot(); s.InFlight != 3 || s.Failed != 1 {
			t.Error(l)
		}
		p.Done(nil)
		b.heard(t, weir.Failure)
		balanced(t, l)
	})
}

func TestSetWeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 4, weir.Queue{Size: 9, Timeout: time.Minute})
		p, err := l.AcquireN(t.Context(), 4)
		if err != nil {
			t.Fatal(err)
		}
		light, heavy := ask(t.Context(), l, 1), ask(t.Context(), l, 3)
		if err := p.SetWeight(3); err != nil {
			t.Error(err)
		}
		q := admitted(t, light)
		waits(t, heavy)
		if err := p.SetWeight(1_000_000_000); err != nil {
			t.Error(err)
		}
		if n := l.Snapshot().InFlight; n != 1_000_000_001 {
			t.Errorf("%d in flight", n)
		}
		q.Done(nil)
		waits(t, heavy)
		for _, slots := range []int{0, -1, 1_000_000_001} {
			if err := p.SetWeight(slots); !errors.Is(err, weir.ErrConfig) {
				t.Errorf("%d: %v", slots, err)
			}
		}
		p.Done(nil)
		r := admitted(t, heavy)
		if err := p.SetWeight(2); err != nil || l.Snapshot().InFlight != 3 {
			t.Errorf("%v, %d in flight after a permit that is back was changed", err, l.Snapshot().InFlight)
		}
		r.Done(nil)
		if err := (weir.Permit{}).SetWeight(1); err != nil {
			t.Error(err)
		}
		balanced(t, l)
	})
}

// The totals of outcomes add up while measured work still runs.
func TestMeasuredWorkIsCountedByItsOutcome(t *testing.T) {
	l := newLimiter(t, weir.Config{})
	check := func(completed, succeeded, failed, ignored uint64) {
		t.Helper()
		s := weir.Sum(l)
		if s.Completed != completed || s.Succeeded != succeeded || s.Failed != failed || s.Ignored != ignored {
			t.Errorf("%d completed, %d succeeded, %d failed, %d ignored", s.Completed, s.Succeeded, s.Failed, s.Ignored)
		}
	}
	permits := hold(t, l, 3)
	for i, o := range []weir.Outcome{weir.Success, weir.Failure, weir.Ignore} {
		permits[i].Measure(o)
	}
	check(0, 1, 1, 1)
	for _, p := range permits {
		p.Release()
	}
	check(3, 1, 1, 1)
}
