package weir_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
)

// breaking returns a law that calls do, once, when the first window closes.
func breaking(do func()) law.Law {
	done := false
	return script(func(w law.Window) law.Decision {
		if w.Elapsed > 0 && !done {
			done = true
			do()
		}
		return law.Decision{Limit: float64(w.Limit)}
	})
}

// A waiter that rechecks, and leaves because the law panics, takes no slot later.
func TestLawPanicInTheQueueLosesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Initial: 5, MinSamples: 1, Law: breaking(func() { panic("boom") }),
			Queue: weir.Queue{Size: 5, Timeout: time.Hour},
		})
		inside.SetPace(l, admit.Pace{Rate: 0.5})
		hold(t, l, 1)[0].Done(nil)
		waiting := make(chan any, 1)
		go func() {
			defer func() { waiting <- recover() }()
			_, _ = l.Acquire(t.Context())
		}()
		synctest.Wait()
		inside.SetPace(l, admit.Pace{Rate: 0.1}) // it looks too early, finds the window due, and has to keep waiting
		if got := <-waiting; got == nil {
			t.Fatal("the law did not panic in the caller")
		}
		if s := l.Snapshot(); s.Queued != 0 {
			t.Errorf("%d queued: want none, for the caller is gone", s.Queued)
		}
		inside.SetPace(l, admit.Pace{})
		balanced(t, l)
	})
}

// A caller whose hook calls runtime.Goexit while it waits takes no slot later either.
func TestGoexitInTheQueueLosesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Initial: 5, MinSamples: 1, Queue: weir.Queue{Size: 5, Timeout: time.Hour},
			Law: script(func(w law.Window) law.Decision {
				if w.Elapsed > 0 {
					return law.Decision{Limit: 4}
				}
				return law.Decision{Limit: 5}
			}),
			OnEvent: func(e weir.Event) {
				if e.Kind == weir.LimitChanged {
					runtime.Goexit()
				}
			},
		})
		inside.SetPace(l, admit.Pace{Rate: 0.5})
		hold(t, l, 1)[0].Done(nil)
		gone := make(chan bool)
		go func() {
			defer close(gone)
			_, _ = l.Acquire(t.Context())
		}()
		synctest.Wait()
		inside.SetPace(l, admit.Pace{Rate: 0.1})
		<-gone
		inside.SetPace(l, admit.Pace{})
		balanced(t, l)
	})
}

// Work that calls runtime.Goexit, as a failed test does, did not succeed.
func TestGoexitIsAFailure(t *testing.T) {
	for name, work := range map[string]func(l *weir.Limiter){
		"DoneWith": func(l *weir.Limiter) {
			permit, _ := l.TryAcquire(t.Context())
			defer permit.DoneWith(nil)
			runtime.Goexit()
		},
		"DoneWith an error": func(l *weir.Limiter) {
			var err error
			permit, _ := l.TryAcquire(t.Context())
			defer permit.DoneWith(&err)
			runtime.Goexit()
		},
		"Do": func(l *weir.Limiter) {
			_ = l.Do(context.Background(), func(context.Context) error { runtime.Goexit(); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, weir.Config{})
			gone := make(chan bool)
			go func() {
				defer close(gone)
				work(l)
			}()
			<-gone
			if s := l.Snapshot(); s.Failed != 1 || s.Samples != 0 {
				t.Errorf("%d failed and %d succeeded: want one failure", s.Failed, s.Samples)
			}
			balanced(t, l)
		})
	}
	t.Run("not otherwise", func(t *testing.T) {
		l := newLimiter(t, weir.Config{})
		func() {
			permit, _ := l.TryAcquire(t.Context())
			defer permit.DoneWith(nil)
		}()
		func() {
			err := errors.New("boom")
			permit, _ := l.TryAcquire(t.Context())
			defer permit.DoneWith(&err)
		}()
		if s := l.Snapshot(); s.Failed != 1 || s.Samples != 1 {
			t.Errorf("%d failed and %d succeeded: want one each", s.Failed, s.Samples)
		}
	})
}
