package weir_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func TestPermitIsBackOnceAlsoConcurrently(t *testing.T) {
	l := fixed(t, 100, weir.Queue{})
	others := hold(t, l, 10)
	for range 100 {
		p := hold(t, l, 1)[0]
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				switch i % 4 {
				case 0:
					p.Done(nil)
				case 1:
					p.DoneWith(nil)
				case 2:
					p.Release()
				case 3:
					p.Finish(weir.Success)
				}
			})
		}
		all.Wait()
	}
	if s := l.Snapshot(); s.InFlight != 10 || s.Completed != 100 {
		t.Errorf("%d in flight, %d completed: want 10 and 100", s.InFlight, s.Completed)
	}
	for _, p := range others {
		p.Done(nil)
	}
	balanced(t, l)
}

func TestPermitZeroIsBack(t *testing.T) {
	var p weir.Permit
	err := errors.New("boom")
	p.Done(nil)
	p.DoneWith(nil)
	p.DoneWith(&err)
	p.Finish(weir.Failure)
	p.Measure(weir.Success)
	p.Release()
	if p.Waited() != 0 {
		t.Error(p.Waited())
	}

	// such as the one that comes with a refusal
	l := fixed(t, 1, weir.Queue{})
	held := hold(t, l, 1)
	refused, ok := l.TryAcquire(t.Context())
	if ok {
		t.Fatal("admitted above the limit")
	}
	refused.Done(nil)
	if n := l.Snapshot().InFlight; n != 1 {
		t.Errorf("%d in flight: want 1", n)
	}
	held[0].Done(nil)
}

func TestPermitAfterClose(t *testing.T) {
	l := fixed(t, 2, weir.Queue{})
	permits := hold(t, l, 2)
	l.Close()
	permits[0].Done(nil)
	permits[1].Release()
	permits[1].Done(nil)
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

func TestDoneWithReadsTheErrorLate(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	work := func() (err error) {
		permit, err := l.Acquire(t.Context())
		if err != nil {
			return err
		}
		defer permit.DoneWith(&err)
		return errors.New("boom")
	}
	if err := work(); err == nil {
		t.Error("the error was lost")
	}
	if s := l.Snapshot(); s.Failed != 1 {
		t.Errorf("%d failed: want 1", s.Failed)
	}
	balanced(t, l)
}

func TestDoneWithNilIsSuccess(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	hold(t, l, 1)[0].DoneWith(nil)
	if s := l.Snapshot(); s.Samples != 1 {
		t.Errorf("%d samples: want 1", s.Samples)
	}
}

func TestDoneWithPanicGoesOn(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v: want boom", r)
			}
		}()
		var err error
		permit, _ := l.TryAcquire(t.Context())
		defer permit.DoneWith(&err)
		panic("boom")
	}()
	if s := l.Snapshot(); s.Failed != 1 || s.Samples != 0 {
		t.Errorf("%d failed, %d samples: want 1 and 0", s.Failed, s.Samples)
	}
	balanced(t, l)
}

func TestFinishOutOfRangeIsIgnored(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	hold(t, l, 1)[0].Finish(weir.Outcome(200))
	if s := l.Snapshot(); s.Ignored != 1 {
		t.Errorf("%d ignored: want 1", s.Ignored)
	}
	balanced(t, l)
}

// Copies are for the same work: the second to be given back does nothing, even while other
// work uses the record of the first.
func TestCopiesAreBackOnce(t *testing.T) {
	l := fixed(t, 2, weir.Queue{})
	p := hold(t, l, 1)[0]
	twin := p
	p.Done(nil)
	others := hold(t, l, 2)
	twin.Done(errors.New("boom"))
	twin.Release()
	if s := l.Snapshot(); s.InFlight != 2 || s.Completed != 1 || s.Failed != 0 {
		t.Errorf("%d in flight, %d completed, %d failed: want 2, 1 and 0", s.InFlight, s.Completed, s.Failed)
	}
	if _, ok := l.TryAcquire(t.Context()); ok {
		t.Error("a copy won a slot")
	}
	for _, p := range others {
		p.Done(nil)
	}
	balanced(t, l)
}

func TestCopiesAreBackOnceAlsoConcurrently(t *testing.T) {
	l := fixed(t, 1000, weir.Queue{})
	others := hold(t, l, 10)
	var all sync.WaitGroup
	for i := range 500 {
		permit, err := l.AcquireN(t.Context(), 1+i%2)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			twin := permit
			all.Go(func() { twin.Done(context.Canceled) })
		}
		if i%50 == 0 {
			all.Wait()
		}
	}
	all.Wait()
	if s := l.Snapshot(); s.InFlight != 10 || s.Completed != 500 {
		t.Error(l)
	}
	for _, p := range others {
		p.Done(nil)
	}
	balanced(t, l)
}

// A permit is passed by value, which go vet accepts.
func TestPermitIsSmall(t *testing.T) {
	if size, most := unsafe.Sizeof(weir.Permit{}), 4*unsafe.Sizeof(uint64(0)); size > most {
		t.Errorf("a permit takes %d bytes: want at most %d", size, most)
	}
}

// A copy that was given back twice does not cost the limiter slots for good.
func TestCopyOfLightPermitStrandsNoSlots(t *testing.T) {
	l := fixed(t, 10, weir.Queue{})
	light := hold(t, l, 1)[0]
	heavy, err := l.AcquireN(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	twin := light
	light.Done(nil)
	twin.Done(nil)
	heavy.Done(nil)
	if n := l.Snapshot().InFlight; n != 0 {
		t.Errorf("%d in flight with nothing running", n)
	}
}

func TestDoneWithOfTheZeroPermitLetsAPanicGoOn(t *testing.T) {
	defer func() {
		if r := recover(); r != "odd" {
			t.Errorf("recovered %v", r)
		}
	}()
	var err error
	defer weir.Permit{}.DoneWith(&err)
	panic("odd")
}

// Copies on many goroutines measure, reweigh and give back, in any order: the limiter and the
// breaker get each outcome once, and each permit is back once.
func TestCopiesInAnyOrder(t *testing.T) {
	const work, each = 300, 6
	b := &breaker{}
	l := newLimiter(t, weir.Config{
		Initial: 50, Max: 10_000, Law: law.Fixed{}, Breaker: b,
		Queue: weir.Queue{Size: work, Timeout: time.Hour},
	})
	var all sync.WaitGroup
	for i := range work {
		all.Go(func() {
			permit, err := l.AcquireN(t.Context(), 1+i%3)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range each {
				twin := permit
				all.Go(func() {
					switch (i + k) % each {
					case 0:
						twin.Measure(weir.Ignore)
					case 1:
						if err := twin.SetWeight(1 + i%5); err != nil {
							t.Error(err)
						}
					case 2:
						twin.Done(errors.New("boom"))
					case 3:
						twin.Measure(weir.Success)
					case 4:
						twin.Release()
					case 5:
						_ = twin.Waited()
					}
				})
			}
		})
	}
	all.Wait()
	balanced(t, l)
	s := l.Snapshot()
	told := map[weir.Outcome]uint64{}
	for _, o := range b.told {
		told[o]++
	}
	if s.Completed != work || s.Succeeded+s.Failed+s.Ignored != work {
		t.Errorf("not heard of each: %v", l)
	}
	if len(b.told) != b.allowed || told[weir.Failure] != s.Failed || told[weir.Success] != s.Succeeded {
		t.Errorf("the breaker allowed %d and heard %v, the limiter counted %v", b.allowed, told, l)
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

func TestMeasureOutOfRangeIsIgnored(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	p := hold(t, l, 1)[0]
	p.Measure(weir.Outcome(200))
	p.Done(nil)
	if s := l.Snapshot(); s.Ignored != 1 || s.Samples != 0 {
		t.Error(l)
	}
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

func TestWaitedOutlivesThePermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 1, Timeout: time.Minute})
		first := hold(t, l, 1)[0]
		waiting := ask(t.Context(), l, 1)
		time.Sleep(time.Second)
		first.Done(nil)
		p := admitted(t, waiting)
		p.Done(nil)
		hold(t, l, 1)[0].Done(nil)
		if got := p.Waited(); got != time.Second {
			t.Errorf("it waited %v", got)
		}
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
