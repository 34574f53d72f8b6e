package weir_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// A panic in the caller's Classify or OnEvent loses no slot.
func TestClassifyPanicLeaksNothing(t *testing.T) {
	l := newLimiter(t, weir.Config{Classify: func(error) weir.Outcome { panic("boom") }})
	p := hold(t, l, 1)[0]
	func() {
		defer func() { _ = recover() }()
		p.Done(nil)
	}()
	balanced(t, l)
}

func TestHookPanicLeaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Initial: 10, Law: band, MinSamples: 1,
			OnEvent: func(weir.Event) { panic("boom") },
		})
		p := hold(t, l, 1)[0]
		time.Sleep(500 * time.Millisecond)
		p.Done(nil)
		time.Sleep(time.Second)
		func() {
			defer func() { _ = recover() }()
			_, _ = l.TryAcquire(t.Context()) // moves the limit
		}()
		balanced(t, l)
	})
}

// A panic in a law does not lock the limiter up.
func TestLawPanicLocksNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{MinSamples: 1, Law: script(func(w law.Window) law.Decision {
			if w.Elapsed > 0 {
				panic("boom")
			}
			return law.Decision{Limit: 5}
		})})
		hold(t, l, 1)[0].Done(nil)
		time.Sleep(time.Second)
		func() {
			defer func() { _ = recover() }()
			_, _ = l.TryAcquire(t.Context())
		}()
		done := make(chan int, 1)
		go func() { done <- l.Snapshot().InFlight }()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("Snapshot hangs")
		}
	})
}

// A law that calls runtime.Goexit does not lock the limiter up, and no slot is lost.
func TestLawThatExitsLocksNothingUp(t *testing.T) {
	for name, call := range map[string]func(l *weir.Limiter, p weir.Permit){
		"at an acquire": func(l *weir.Limiter, _ weir.Permit) { _, _ = l.TryAcquire(t.Context()) },
		"at a done":     func(_ *weir.Limiter, p weir.Permit) { p.Done(nil) },
		"at a wait": func(l *weir.Limiter, _ weir.Permit) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, _ = l.Acquire(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				exits := true
				l := newLimiter(t, weir.Config{
					MinSamples: 1, Max: 2, Initial: 2, Queue: weir.Queue{Size: 1},
					Law: script(func(w law.Window) law.Decision {
						if w.Elapsed > 0 && exits {
							runtime.Goexit()
						}
						return law.Decision{Limit: 2}
					}),
				})
				permits := hold(t, l, 2)
				permits[0].Done(nil)
				time.Sleep(2 * time.Second)
				var calls sync.WaitGroup
				calls.Go(func() { call(l, permits[1]) })
				calls.Wait()
				exits = false
				permits[1].Done(nil) // again, if that was the call
				balanced(t, l)
			})
		})
	}
}
