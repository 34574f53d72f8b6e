package weir_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

func adaptive(t *testing.T, limit int) *weir.Limiter {
	return fixed(t, limit, weir.Queue{Timeout: time.Minute, Discipline: weir.Adaptive})
}

// queueUp has one caller after the other wait for a slot, each with its own
// deadline unless that is 0, and returns where they note the order in which they
// are served.
func queueUp(t *testing.T, l *weir.Limiter, given ...time.Duration) *[]int {
	order := new([]int)
	for i, d := range given {
		time.Sleep(time.Millisecond)
		ctx := t.Context()
		if d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			t.Cleanup(cancel)
		}
		go func() {
			err := l.Do(ctx, func(context.Context) error {
				*order = append(*order, i)
				return nil
			})
			if err != nil && !errors.Is(err, weir.ErrRefused) {
				t.Error(err)
			}
		}()
		synctest.Wait()
	}
	return order
}

func TestAdaptiveServesTheEarliestDeadlineFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 1)
		held := hold(t, l, 1)
		order := queueUp(t, l, 9*time.Second, 3*time.Second, 6*time.Second)
		time.Sleep(time.Millisecond)
		held[0].Done(nil)
		synctest.Wait()
		if want := []int{1, 2, 0}; !slices.Equal(*order, want) {
			t.Errorf("served %v: want %v", *order, want)
		}
		balanced(t, l)
	})
}

func TestAdaptiveServesTheNewestFirstUnderAStandingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 1)
		held := hold(t, l, 1)
		const given = 20 * time.Second
		order := queueUp(t, l, given, given, given)
		held[0].Release()
		synctest.Wait()
		if want := []int{0, 1, 2}; !slices.Equal(*order, want) {
			t.Errorf("served %v after a burst: want %v", *order, want)
		}

		held = hold(t, l, 1)
		order = queueUp(t, l, given, given, given)
		time.Sleep(2 * time.Second) // all of it saturated
		held[0].Release()
		synctest.Wait()
		if want := []int{2, 1, 0}; !slices.Equal(*order, want) {
			t.Errorf("served %v after 2 s: want %v", *order, want)
		}
		balanced(t, l)
	})
}

func TestAdaptiveHoldsFourLimitsAndGivesUpTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 2)
		held := hold(t, l, 2)
		var waiting []<-chan answer
		for range 10 {
			waiting = append(waiting, ask(t.Context(), l, 1))
			time.Sleep(time.Millisecond)
		}
		if s := l.Snapshot(); s.Queued != 8 || s.Refused[weir.ReasonQueueFull] != 2 {
			t.Errorf("%d queued: want four limits; refused: %v", s.Queued, s.Refused)
		}
		for i, w := range waiting {
			if i >= 2 {
				waits(t, w)
			} else if a := now(t, w); !errors.Is(a.err, weir.ErrQueueFull) {
				t.Errorf("number %d: %v: want the oldest refused", i, a.err)
			}
		}
		l.Close()
		held[0].Done(nil)
		held[1].Done(nil)
		synctest.Wait()
		balanced(t, l)
	})
}

func TestAdaptiveGivesUpTheLowestPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 1)
		hold(t, l, 1)
		low := ask(weir.WithPriority(t.Context(), weir.Low), l, 1)
		var high []<-chan answer
		for range 4 {
			high = append(high, ask(weir.WithPriority(t.Context(), weir.High), l, 1))
		}
		if a := now(t, low); !errors.Is(a.err, weir.ErrQueueFull) {
			t.Errorf("%v: want it to make room", a.err)
		}
		if a := now(t, ask(weir.WithPriority(t.Context(), weir.Low), l, 1)); !errors.Is(a.err, weir.ErrQueueFull) {
			t.Errorf("%v: want no room for a newcomer of the lowest priority", a.err)
		}
		for _, w := range high {
			waits(t, w)
		}
		l.Close()
	})
}

func TestAdaptiveSizeBoundsItFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 5, weir.Queue{Size: 3, Timeout: time.Minute, Discipline: weir.Adaptive})
		hold(t, l, 5)
		for range 10 {
			ask(t.Context(), l, 1)
		}
		if n := l.Snapshot().Queued; n != 3 {
			t.Errorf("%d queued: want 3", n)
		}
		l.Close()
	})
}

func TestAdaptiveWithoutDeadlineWaitsFourLatencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 1)
		busy(t, l)
		held := hold(t, l, 1)
		first := ask(t.Context(), l, 1)
		time.Sleep(350 * time.Millisecond)
		second := ask(t.Context(), l, 1)
		waits(t, first)
		time.Sleep(100 * time.Millisecond)
		held[0].Release()
		if a := now(t, first); !errors.Is(a.err, weir.ErrQueueTimeout) {
			t.Errorf("%v: want it given up after 400ms", a.err)
		}
		admitted(t, second).Done(nil)
		balanced(t, l)
	})
}

func TestAdaptiveTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Timeout: 20 * time.Millisecond, Discipline: weir.Adaptive})
		hold(t, l, 1)
		_, err := l.Acquire(t.Context())
		if !errors.Is(err, weir.ErrQueueTimeout) {
			t.Error(err)
		}
	})
}
