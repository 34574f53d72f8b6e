package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
)

type traceKey struct{}

func traced(label string) context.Context {
	return context.WithValue(context.Background(), traceKey{}, label)
}

func traceOf(ctx context.Context) string {
	label, _ := ctx.Value(traceKey{}).(string)
	return label
}

func TestExemplarsLeadToRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Histograms: true, Exemplar: traceOf})
		do := func(label string, latency time.Duration, err error) {
			_ = l.Do(traced(label), func(context.Context) error { time.Sleep(latency); return err })
		}
		do("slow", time.Second, nil)
		do("failed", time.Second, errors.New("broken"))
		do("", time.Second, nil)
		do("fast", 25*time.Millisecond, nil)
		do("too soon", 5*time.Millisecond, nil)
		time.Sleep(100 * time.Millisecond)
		do("faster", 20*time.Millisecond, nil)
		s := l.Snapshot()
		var got []string
		for _, e := range s.Latencies.Exemplars {
			got = append(got, fmt.Sprint(e.Label, " ", e.Value))
		}
		if want := []string{"faster 20ms", "slow 1s"}; !slices.Equal(got, want) {
			t.Errorf("%q: want %q", got, want)
		}
		if at := s.Latencies.Exemplars[1].At; !at.Equal(time.Now().Add(-2*time.Second - 150*time.Millisecond)) {
			t.Errorf("at %v", at)
		}
	})
}

func TestExemplarsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := 0
		l := newLimiter(t, weir.Config{Min: 1000, Histograms: true, Exemplar: func(context.Context) string {
			mu.Lock()
			defer mu.Unlock()
			asked++
			return "trace"
		}})
		load(t.Context(), l, 10, time.Second, always(time.Millisecond))
		mu.Lock()
		defer mu.Unlock()
		if asked != 10 {
			t.Errorf("asked %d times in a second: want 10", asked)
		}
	})
}

// A breaker gets the outcome of work that leaves an exemplar.
func TestExemplarBesideABreaker(t *testing.T) {
	b := &breaker{}
	l := newLimiter(t, weir.Config{Histograms: true, Exemplar: traceOf, Breaker: b})
	must.Have(l.Acquire(traced("request 7")))(t).Done(nil)
	if e := l.Snapshot().Latencies.Exemplars; len(e) != 1 || e[0].Label != "request 7" {
		t.Errorf("%v, want that of the request", e)
	}
	b.heard(t, weir.Success)
}

// A user function that does not return leaks no slot, and the breaker still gets the outcome.
func TestExemplarThatDoesNotReturn(t *testing.T) {
	for how, end := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
		t.Run(how, func(t *testing.T) {
			b := &breaker{}
			c := weir.Config{Max: 1, Histograms: true, Exemplar: func(context.Context) string { end(); return "" }}
			for _, c.Breaker = range []weir.Breaker{nil, b} {
				l := newLimiter(t, c)
				recovered, returned := unwind(func() { _, _ = l.Acquire(t.Context()) })
				if returned || recovered != nil && recovered != "boom" {
					t.Errorf("returned: %v, recovered %v", returned, recovered)
				}
				if s := l.Snapshot(); s.InFlight != 0 || s.Ignored != 1 {
					t.Errorf("%+v: want the slot back", s)
				}
			}
			b.heard(t, weir.Ignore)
		})
	}
}
