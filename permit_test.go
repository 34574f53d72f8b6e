package weir_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// The zero permit, such as the one returned with a refusal, has been given back.
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

// A methodsError is code of the user, as the nil pointer of an error's type is.
type methodsError struct{ is, as func() bool }

func (methodsError) Error() string   { return "odd" }
func (e methodsError) Is(error) bool { return e.is() }
func (e methodsError) As(any) bool   { return e.as() }

// A method of an error may panic. The permit is back, and the panic goes on.
func TestDoneOfAnErrorThatPanics(t *testing.T) {
	yes, odd := func() bool { return true }, func() bool { panic("odd") }
	for _, err := range []error{methodsError{is: odd}, methodsError{is: yes, as: odd}} {
		l := fixed(t, 1, weir.Queue{})
		for _, work := range []func(){
			func() { hold(t, l, 1)[0].Done(err) },
			func() { defer hold(t, l, 1)[0].DoneWith(&err) },
			func() { _ = l.Do(t.Context(), func(context.Context) error { return err }) },
		} {
			if recovered, _ := unwind(work); recovered != "odd" {
				t.Errorf("recovered %v: want the panic to go on", recovered)
			}
		}
		balanced(t, l)
		if s := l.Snapshot(); s.InFlight != 0 || s.Completed != 3 {
			t.Error(l)
		}
	}
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

// A permit is passed by value, which go vet accepts.
func TestPermitIsSmall(t *testing.T) {
	if size, most := unsafe.Sizeof(weir.Permit{}), 4*unsafe.Sizeof(uint64(0)); size > most {
		t.Errorf("a permit takes %d bytes: want at most %d", size, most)
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
