package demo

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/sim"
)

func TestArrivalsAreTheSameEveryTime(t *testing.T) {
	at := arrivals(0, 150, 100*time.Second)
	if rate := float64(len(at)) / 100; math.Abs(rate-150) > 5 {
		t.Errorf("%.1f per second, want 150", rate)
	}
	if !slices.IsSorted(at) || !slices.Equal(at, arrivals(0, 150, 100*time.Second)) {
		t.Error("not one and the same order")
	}
}

func TestJudge(t *testing.T) {
	waiting := t.Context()
	left, leave := context.WithCancel(waiting)
	leave()
	failure := errors.New("connection reset")
	for _, test := range []struct {
		name    string
		status  int
		err     error
		latency time.Duration
		gone    bool // the client gave up
		want    verdict
	}{
		{"in time", http.StatusNoContent, nil, deadline, false, good},
		{"too late", http.StatusNoContent, nil, deadline + 1, false, late},
		{"gave up", 0, context.DeadlineExceeded, patience, true, late},
		{"refused", http.StatusServiceUnavailable, nil, time.Millisecond, false, refused},
		{"failed", 0, failure, time.Millisecond, false, broken},
		{"nonsense", http.StatusOK, nil, time.Millisecond, false, broken},
	} {
		ctx := waiting
		if test.gone {
			ctx = left
		}
		if got := (route{deadline: deadline}).judge(test.status, test.err, test.latency, ctx); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestInterruptedDemoComparesWhatRan(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &watched{want: "\n 1 full", found: interrupt}
	t.Setenv("BROWSER", "true")
	must.Do(t, Run(ctx, Config{Duration: Longest, Out: out, Open: true, Err: io.Discard}))
	if !regexp.MustCompile(`\nInterrupted after [1-9]\d?s\.\n`).MatchString(out.String()) {
		t.Errorf("it does not say after how many seconds it was interrupted:\n%s", out)
	}
	for _, want := range []string{"p99 served", "\nadaptive"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

type watched struct {
	strings.Builder
	want  string
	found func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Contains(w.String(), w.want) {
		w.found()
	}
	return n, err
}

// TestAdaptiveSettles simulates the adaptive lane: 5 s into each phase, it answers nine
// tenths of the server's capacity. Of the slow server it answers eight, because the law doubts
// the no-load latency that rose, and probes deeper once.
func TestAdaptiveSettles(t *testing.T) {
	race.Skip(t, "simulates for long under the race detector, on one goroutine")
	const settling, length = 5 * time.Second, 10 * time.Second
	s := sim.Scenario{
		Name:     "demo",
		Arrivals: sim.Poisson{Rate: overload * float64(capacity())},
		Work:     sim.Constant{Mean: service},
		Server:   sim.WorkerPool{Workers: workers},
		SLO:      deadline,
		Limiter:  sim.Limiter{Law: aim, Queue: sim.Queue{Size: queue.Size, Timeout: queue.Timeout}},
	}
	for _, p := range phases {
		speed := float64(p.percent) / 100
		s.Phases = append(s.Phases, sim.Phase{Length: settling, Speed: speed}, sim.Phase{Length: length - settling, Speed: speed})
	}
	const seeds = 10
	least := []float64{0.9, 0.8, 0.9}
	for i, p := range phases {
		good := 0
		for seed := range uint64(seeds) {
			result := must.Have(sim.Run(s, nil, seed))(t)
			good += result.Phases[2*i+1].Good
		}
		can := float64(capacity()) * float64(p.percent) / 100 * (length - settling).Seconds() * seeds
		t.Logf("%s: %.1f%%", p.name, 100*float64(good)/can)
		if float64(good) < least[i]*can {
			t.Errorf("phase %d, %s: %d good answers of %.0f possible: want %.0f%%", i, p.name, good, can, 100*least[i])
		}
	}
}

// TestTextsFitEightyColumns uses the longest duration.
func TestTextsFitEightyColumns(t *testing.T) {
	var out strings.Builder
	out.WriteString(limitText(59999 * time.Millisecond))
	out.WriteString(shopText(59999 * time.Millisecond))
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestServerDoesItsCapacityAndNoMore checks the first two phases.
func TestServerDoesItsCapacityAndNoMore(t *testing.T) {
	for phase, want := range []float64{100, 30} { // per second
		synctest.Test(t, func(t *testing.T) {
			const length = course(time.Hour)
			h := newPool(time.Now().Add(-time.Duration(phase)*length.third()), workers, false).serve(length.fate)
			start := time.Now()
			var all sync.WaitGroup
			const requests = 1000
			for range requests {
				all.Go(func() { h(httptest.NewRecorder(), nil) })
			}
			all.Wait()
			if got := requests / time.Since(start).Seconds(); math.Abs(got/want-1) > 0.02 {
				t.Errorf("in phase %d: %.1f per second, want %.0f", phase, got, want)
			}
		})
	}
}

// The demonstration's claim holds for the servers themselves, without sockets and clocks: in
// bursts the bulkhead keeps checkout unaffected, and search loses nothing by it.
func TestBulkheadKeepsCheckoutServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := must.Have(bulkhead.New(compartments))(t)
		with, without := served(t, set), served(t, nil)
		t.Logf("good with %.3v, without %.3v", with, without)
		if with[1] < 0.99 {
			t.Errorf("%.3f of checkout were good, want 0.99", with[1])
		}
		if without[1] > 0.7 {
			t.Errorf("without a bulkhead %.3f of checkout were good: there is nothing to see", without[1])
		}
		if with[0] < without[0] {
			t.Errorf("search: %.3f were good, but %.3f without the bulkhead", with[0], without[0])
		}
	})
}

// served runs clients for four cycles and returns the number of good requests of each route.
func served(t *testing.T, set *bulkhead.Set) (good [2]float64) {
	start := time.Now()
	h := shop("", start, set).handler
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, r := range routes {
		requests := arrivals(uint64(i), r.rate, 4*burstEvery)
		for _, at := range requests {
			all.Go(func() {
				time.Sleep(time.Until(start.Add(at)))
				ctx, giveUp := context.WithTimeout(t.Context(), patience)
				defer giveUp()
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, r.path(), nil))
				if w.Code == http.StatusNoContent && time.Since(start)-at <= r.deadline {
					mu.Lock()
					good[i] += 1 / float64(len(requests))
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	return good
}

func TestSearchHangsInBurstsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := shop("", time.Now(), nil).pool
		for burst := range 2 {
			failed := 0
			for range 1000 {
				if _, fails := p.draw(search.fate); fails {
					failed++
				}
				if _, fails := p.draw(checkout.fate); fails {
					t.Fatal("checkout fails")
				}
			}
			if want := float64(burst) * 1000 * burstShare; float64(failed) < 0.95*want || float64(failed) > 1.05*want {
				t.Errorf("in burst %d: %d of 1000 searches fail", burst, failed)
			}
			time.Sleep(burstEvery / 2)
		}
	})
}
