package weir_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/law"
)

func TestHistogramsCountAllSinceTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Initial: 2, Law: law.Fixed{}, Histograms: true, Window: time.Second,
			Queue: weir.Queue{Size: 10, Timeout: 25 * time.Millisecond},
		})
		for _, outcome := range []weir.Outcome{weir.Success, weir.Failure, weir.Timeout, weir.Ignore, weir.Success} {
			held := hold(t, l, 2)
			waiters := []<-chan answer{ask(t.Context(), l, 1), ask(t.Context(), l, 1), ask(t.Context(), l, 1)}
			time.Sleep(10 * time.Millisecond)
			held[0].Finish(outcome)
			admitted(t, waiters[0]).Release() // which lets the next one in
			last := admitted(t, waiters[1])
			time.Sleep(20 * time.Millisecond) // the third waits too long
			held[1].Release()
			last.Release()
			if err := now(t, waiters[2]).err; !errors.Is(err, weir.ErrQueueTimeout) {
				t.Fatalf("%v: want a queue timeout", err)
			}
			time.Sleep(2 * time.Minute) // beyond look-back and peak
		}
		s := l.Snapshot()
		if s.Succeeded != s.Latencies.Count || s.Succeeded+s.Failed+s.TimedOut+s.Ignored != s.Completed ||
			s.Failed != 1 || s.TimedOut != 1 {
			t.Errorf("%+v: want each success in the histogram", s)
		}
		of10 := histogram.Index(10 * time.Millisecond)
		i := slices.IndexFunc(s.Latencies.Buckets, func(b histogram.Bucket) bool { return b.Index == of10 })
		if i < 0 || s.Latencies.Buckets[i].Count != 2 || math.Abs(s.Latencies.Sum-0.02) > 1e-9 {
			t.Errorf("latencies %+v: want two of 10 ms", s.Latencies)
		}
		if s.QueueWaits.Count != 10 || math.Abs(s.QueueWaits.Sum-0.1) > 1e-9 {
			t.Errorf("waits %+v: want ten of 10 ms", s.QueueWaits)
		}
		if s.Samples != 0 || s.Peak != 0 {
			t.Errorf("%d samples, peak %d: want none from two minutes ago", s.Samples, s.Peak)
		}
		for _, permit := range hold(t, l, 2) {
			permit.Release()
		}
		if got := l.Snapshot().Peak; got != 2 || l.Snapshot().Peak != 2 {
			t.Errorf("peak %d: want 2, for every reader", got)
		}
	})
}

func TestNoHistogramsUnlessAskedFor(t *testing.T) {
	l := newLimiter(t, weir.Config{})
	pass := func() { hold(t, l, 1)[0].Done(nil) }
	expect := func(latencies uint64, peak int) {
		t.Helper()
		if s := l.Snapshot(); s.Latencies == nil || s.QueueWaits == nil || s.Latencies.Count != latencies ||
			s.Peak != peak {
			t.Errorf("%+v: want %d latencies and a peak of %d", s, latencies, peak)
		}
	}
	expectNone := func() {
		t.Helper()
		pass()
		if s := l.Snapshot(); s.Latencies != nil || s.QueueWaits != nil || s.Peak != 0 || s.Succeeded != s.Completed {
			t.Errorf("%+v: want no histograms", s)
		}
	}
	expectNone()
	permit := hold(t, l, 1)[0]
	update(t, l, weir.Config{Histograms: true})
	expect(0, 1)
	permit.Done(nil)
	expect(1, 1)
	update(t, l, weir.Config{Histograms: true, Shadow: true, Max: 1})
	pass()
	expect(2, 1)
	update(t, l, weir.Config{Histograms: true})
	pass()
	expect(3, 1)
	update(t, l, weir.Config{})
	expectNone()
	l = newLimiter(t, weir.Config{Histograms: true})
	expect(0, 0)
	l = newLimiter(t, weir.Config{Histograms: true, Shadow: true, Max: 1})
	hold(t, l, 3)
	expect(0, 3)
}

func TestSumOfHistograms(t *testing.T) {
	with := func() *weir.Limiter { return newLimiter(t, weir.Config{Histograms: true}) }
	a, b, without := with(), with(), newLimiter(t, weir.Config{})
	for _, l := range []*weir.Limiter{a, b, b, without} {
		hold(t, l, 1)[0].Done(nil)
	}
	s := weir.Sum(a, b, without)
	if s.Latencies.Count != 3 || s.QueueWaits.Count != 0 || s.Succeeded != 4 || s.Peak != 2 {
		t.Errorf("%+v: want three latencies of four", s)
	}
	if s := weir.Sum(without); s.Latencies != nil || s.QueueWaits != nil {
		t.Errorf("%+v: want no histograms", s)
	}
}

func TestReasonsAreAll(t *testing.T) {
	all := weir.Reasons()
	for r := range weir.Reason(math.MaxUint8) {
		text := r.String()
		isReason := text != "admitted" && text != "cancelled" && text != "waiting" && text != "must wait" &&
			!strings.Contains(text, "(")
		if isReason != slices.Contains(all, r) {
			t.Errorf("%v (%d) among the reasons: %v", r, r, !isReason)
		}
	}
	all[0] = 99
	if weir.Reasons()[0] == 99 {
		t.Error("the reasons are not the caller's own")
	}
}

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

// A user function that does not return leaks no slot, and the breaker still gets the outcome.
func TestExemplarThatDoesNotReturn(t *testing.T) {
	for name, exemplar := range map[string]func(context.Context) string{
		"panics": func(context.Context) string { panic("boom") },
		"exits":  func(context.Context) string { runtime.Goexit(); return "" },
	} {
		for _, behind := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, breaker %v", name, behind), func(t *testing.T) {
				told := 0
				c := weir.Config{Max: 1, Histograms: true, Exemplar: exemplar}
				if behind {
					c.Breaker = allowing(func(weir.Outcome) { told++ })
				}
				l := newLimiter(t, c)
				ended := make(chan any)
				go func() {
					returned := false
					defer func() {
						if r := recover(); r != nil || !returned {
							ended <- r
						}
						close(ended)
					}()
					_, _ = l.Acquire(context.Background())
					returned = true
				}()
				if r, ok := <-ended; !ok || r != nil && r != "boom" {
					t.Errorf("got %v, and it returned: %v", r, !ok)
				}
				if s := l.Snapshot(); s.InFlight != 0 || s.Ignored != 1 {
					t.Errorf("%+v: want the slot back", s)
				}
				if behind && told != 1 {
					t.Errorf("the breaker was told %d times", told)
				}
			})
		}
	}
}

// allowing is a breaker that allows all.
type allowing func(weir.Outcome)

func (a allowing) Allow(context.Context) (func(weir.Outcome), error) { return a, nil }

// Exemplar may use the limiter: no lock is held.
func TestExemplarMayUseItsLimiter(t *testing.T) {
	var l *weir.Limiter
	l = newLimiter(t, weir.Config{Histograms: true, Exemplar: func(context.Context) string {
		_ = l.String()
		if permit, ok := l.TryAcquire(t.Context()); ok {
			permit.Done(nil)
		}
		return "trace"
	}})
	told := 0
	update(t, l, weir.Config{Histograms: true, Exemplar: traceOf, Breaker: allowing(func(weir.Outcome) { told++ })})
	if err := l.Do(traced("a"), func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if e := l.Snapshot().Latencies.Exemplars; len(e) != 1 || e[0].Label != "a" || told != 1 {
		t.Errorf("%v, breaker told %d times: want one of each", e, told)
	}
}

func TestHistogramsWhileTheyAreRead(t *testing.T) {
	l := newLimiter(t, weir.Config{Min: 100, Histograms: true, Exemplar: traceOf})
	const workers, each = 4, 500
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				if err := l.Do(traced("a"), func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range each / 10 {
				s := l.Snapshot()
				if s.Latencies.Count != s.Succeeded || s.Peak < s.InFlight {
					t.Errorf("%+v: want a snapshot of one moment", s)
				}
				if _, err := json.Marshal(s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s := l.Snapshot(); s.Latencies.Count != workers*each || s.Peak < 1 || s.Peak > workers {
		t.Errorf("%+v: want %d latencies", s, workers*each)
	}
}
