package weir_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

func TestCloseRefusesWhatWaitsAndWhatArrives(t *testing.T) {
	for _, d := range []weir.Discipline{weir.FIFO, weir.Adaptive} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fixed(t, 1, weir.Queue{Size: 5, Discipline: d})
				held := hold(t, l, 1)
				var waiting []<-chan answer
				for _, p := range []weir.Priority{weir.Low, weir.Normal, weir.Critical} {
					waiting = append(waiting, ask(weir.WithPriority(t.Context(), p), l, 1))
				}
				l.Close()
				for _, w := range waiting {
					if a := now(t, w); !errors.Is(a.err, weir.ErrClosed) || a.after != 0 {
						t.Errorf("%v after %v", a.err, a.after)
					}
				}
				if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrClosed) {
					t.Error(err)
				}
				if _, ok := l.TryAcquire(t.Context()); ok {
					t.Error("admitted by a closed limiter")
				}
				l.Close()
				if s := l.Snapshot(); s.InFlight != 1 || s.Queued != 0 || s.Refused[weir.ReasonClosed] != 5 {
					t.Error(l)
				}
				held[0].Done(nil)
				balanced(t, l)
			})
		})
	}
}

func TestCloseSurvivesUpdate(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	l.Close()
	update(t, l, weir.Config{Shadow: true})
	if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrClosed) {
		t.Errorf("%v: want it to stay closed", err)
	}
}

func TestShutdownDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 5, Timeout: time.Minute})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		began, drained := time.Now(), make(chan error, 2)
		for range 2 {
			go func() { drained <- l.Shutdown(t.Context()) }()
		}
		synctest.Wait()
		if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("%v: want newcomers refused", err)
		}
		time.Sleep(time.Second)
		held[0].Done(nil)
		p := admitted(t, waiting)
		synctest.Wait()
		if len(drained) > 0 {
			t.Error("shut down while work runs")
		}
		time.Sleep(time.Second)
		p.Done(nil)
		for range 2 {
			if err := <-drained; err != nil || time.Since(began) != 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		if err := l.Shutdown(t.Context()); err != nil {
			t.Errorf("a second time: %v", err)
		}
		balanced(t, l)
	})
}

func TestShutdownGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 5, Timeout: time.Minute})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		impatient := errors.New("impatient")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, impatient)
		defer cancel()
		began := time.Now()
		err := l.Shutdown(ctx)
		if !errors.Is(err, impatient) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if a := now(t, waiting); !errors.Is(a.err, weir.ErrClosed) {
			t.Errorf("%v: want what waits refused", a.err)
		}
		held[0].Done(nil)
		balanced(t, l)
		if err := l.Shutdown(ctx); err != nil {
			t.Errorf("%v: want it drained by now", err)
		}
	})
}

func TestShutdownIsEndedByWhatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 2, weir.Queue{Size: 5, Timeout: time.Second})
		held := hold(t, l, 1)
		heavy := ask(t.Context(), l, 2)
		drained := make(chan error, 1)
		go func() { drained <- l.Shutdown(t.Context()) }()
		time.Sleep(2 * time.Second)
		if a := now(t, heavy); !errors.Is(a.err, weir.ErrQueueTimeout) {
			t.Error(a.err)
		}
		held[0].Release()
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// An idle limiter is shut down whatever the context.
func TestShutdownOfTheIdleSucceeds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		if err := fixed(t, 1, weir.Queue{}).Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
