package weir_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// wrapped has no method but Acquire.
type wrapped struct{ weir.Admitter }

func TestAdmitterWithoutMoreMethods(t *testing.T) {
	for name, wrap := range map[string]func(*weir.Limiter) weir.Admitter{
		"a limiter":     func(l *weir.Limiter) weir.Admitter { return l },
		"Acquire alone": func(l *weir.Limiter) weir.Admitter { return wrapped{l} },
	} {
		t.Run(name, func(t *testing.T) {
			l := fixed(t, 5, weir.Queue{})
			a := wrap(l)
			permit, err := weir.AcquireN(t.Context(), a, 4)
			if err != nil || l.Snapshot().InFlight != 4 {
				t.Errorf("%d in flight, want the weight of 4: %v", l.Snapshot().InFlight, err)
			}
			if _, err := weir.AcquireN(t.Context(), a, 0); !errors.Is(err, weir.ErrConfig) {
				t.Errorf("a weight of 0: %v", err)
			}
			if err := weir.Full(t.Context(), a); err != nil {
				t.Errorf("full with a slot free: %v", err)
			}
			last := hold(t, l, 1)
			if err := weir.Full(t.Context(), a); (err != nil) != (name == "a limiter") {
				t.Errorf("without a slot: %v", err)
			}
			if _, err := weir.AcquireN(t.Context(), a, 2); !errors.Is(err, weir.ErrLimitReached) {
				t.Errorf("without a slot: %v", err)
			}
			last[0].Release()
			permit.Release()
			balanced(t, l)
		})
	}
}

// The settings of the limiter come with its permit.
func TestDoOfAnAdmitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Timeout: time.Second})
		_, err := weir.Do(t.Context(), wrapped{l}, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if s := l.Snapshot(); !errors.Is(err, weir.ErrExecutionTimeout) || s.TimedOut != 1 {
			t.Errorf("%v, %d timed out", err, s.TimedOut)
		}
		balanced(t, l)
	})
}

// unlimited admits, and limits nothing.
type unlimited struct{}

func (unlimited) Acquire(context.Context) (weir.Permit, error) { return weir.Permit{}, nil }

func TestDoWithAPermitOfNoLimiter(t *testing.T) {
	got, err := weir.Do(t.Context(), unlimited{}, func(context.Context) (int, error) { return 1, nil })
	if got != 1 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}
