package crowd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// TestCrowdCounts makes ten calls a second, which end in different ways in turn. A call that
// ends after its second counts in the next one.
func TestCrowdCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := Crowd{Rate: 10, Patience: 50 * time.Millisecond, Call: func(ctx context.Context) error {
			switch calls++; calls % 5 {
			case 0:
				<-ctx.Done()
				return errors.New("an error of its own, after its caller has left")
			case 1:
				return &weir.RefusedError{}
			default:
				return nil
			}
		}}
		var out bytes.Buffer
		tally, err := c.Run(t.Context(), &out, 4*time.Second)
		if want := (Tally{20, 12, 4, 4}); err != nil || tally != want {
			t.Errorf("%+v (%v), want %+v in the second half", tally, err, want)
		}
		if want := "       2     10        6        2        2   none\n"; !strings.Contains(out.String(), want) {
			t.Errorf("want the line %q in\n%s", want, &out)
		}
	})
}

func TestFaultsEndTheShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		c := Crowd{Rate: 10, Patience: time.Second, Call: func(context.Context) error { return broken }}
		if _, err := c.Run(t.Context(), io.Discard, 4*time.Second); !errors.Is(err, broken) {
			t.Errorf("crowd: %v, want %v", err, broken)
		}
		var timings Timings
		timings.Note(time.Now(), broken)
		if _, _, err := timings.Watch(t.Context(), Show{Out: io.Discard, Each: 4 * time.Second}); !errors.Is(err, broken) {
			t.Errorf("timings: %v, want %v", err, broken)
		}
	})
}

func TestTimings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timings Timings
		go func() {
			for i := range 4 {
				began := time.Now()
				time.Sleep(time.Duration(i) * 400 * time.Millisecond) // they end after 0, 0.4, 1.2 and 2.4 s
				timings.Note(began, nil)
			}
		}()
		var out bytes.Buffer
		ended, slowest, err := timings.Watch(t.Context(), Show{Out: &out, Each: 3 * time.Second})
		if err != nil || ended != 2 || slowest != 1200*time.Millisecond || !strings.Contains(out.String(), "       1        2   400 ms\n") {
			t.Errorf("%d, %v (%v), want 2 and 1.2s, of\n%s", ended, slowest, err, &out)
		}
	})
}

// An interrupt ends a show at once.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		began := time.Now()
		c := Crowd{Rate: 10, Patience: time.Hour, Call: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		if _, err := c.Run(ctx, io.Discard, time.Minute); err != nil || time.Since(began) != 1500*time.Millisecond {
			t.Errorf("%v after %v, want no error after 1.5s", err, time.Since(began))
		}
	})
}
