package weir_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

func TestEventOfARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		l := newLimiter(t, weir.Config{
			Name: "search", Max: 1, Law: law.Fixed{}, OnEvent: j.Note,
			Queue: weir.Queue{Size: 1, Timeout: time.Second},
		})
		hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		_, err := l.Acquire(t.Context())
		_, _ = l.TryAcquire(t.Context())
		time.Sleep(time.Second)
		now(t, waiting)
		_, _ = l.AcquireN(t.Context(), 2)
		l.Close()
		_, _ = l.TryAcquire(t.Context())

		var want *weir.RefusedError
		if !errors.As(err, &want) {
			t.Fatal(err)
		}
		reasons := []weir.Reason{
			weir.ReasonQueueFull, weir.ReasonLimitReached, weir.ReasonQueueTimeout, weir.ReasonTooHeavy,
			weir.ReasonClosed,
		}
		for i, e := range j.Events {
			if e.Kind != weir.Refused || e.Reason != reasons[i] || e.Limiter != "search" || e.Seq != uint64(i+1) ||
				e.At.IsZero() {
				t.Errorf("event %d: %+v", i, e)
			}
		}
		if len(j.Events) != 5 || j.Events[0].String() != "search: refused: queue full" ||
			j.Events[0].RetryAfter != want.RetryAfter {
			t.Errorf("%v", j.Events)
		}
	})
}

func TestEventOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		l := newLimiter(t, weir.Config{Initial: 10, Law: band, MinSamples: 1, OnEvent: j.Note})
		load(t.Context(), l, 1, 3500*time.Millisecond, always(250*time.Millisecond))
		history := l.History()
		changes := j.Of(weir.LimitChanged)
		if len(history) == 0 || len(changes) != len(history) || len(j.Events) != len(history) {
			t.Fatalf("%d changes in the history, %d events", len(history), len(j.Events))
		}
		for i, c := range history {
			e := changes[i]
			if e.Seq != uint64(i+1) || e.Change.From != c.From || e.Change.To != c.To || !e.At.Equal(c.At) ||
				!e.Change.At.Equal(c.At) ||
				e.Change.String() != c.String() || e.String() != "limiter: limit changed: "+c.String() {
				t.Errorf("event %+v, history %+v", e, c)
			}
		}
	})
}
