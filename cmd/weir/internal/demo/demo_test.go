package demo

import (
	"context"
	"errors"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir/internal/figures"
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
		if got := (manner{deadline: deadline}).judge(test.status, test.err, test.latency, ctx); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestInterruptedDemoComparesWhatRan(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out := &watched{want: "\n 1 full", found: interrupt}
	must.Do(t, Run(ctx, Config{Duration: Longest, Out: out, Color: true}))
	if !regexp.MustCompile(`\nInterrupted after [1-9]\d?s\.\n`).MatchString(out.String()) {
		t.Errorf("it does not say after how many seconds it was interrupted:\n%s", out)
	}
	for _, want := range []string{"p99 served", "\x1b[1madaptive"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// watched collects output until a text appears in it.
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
// tenths of the server's capacity.
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
	for i, p := range phases {
		good := 0
		for seed := range uint64(seeds) {
			result := must.Have(sim.Run(s, nil, seed))(t)
			good += result.Phases[2*i+1].Good
		}
		can := float64(capacity()) * float64(p.percent) / 100 * (length - settling).Seconds() * seeds
		t.Logf("%s: %.1f%%", p.name, 100*float64(good)/can)
		if float64(good) < 0.9*can {
			t.Errorf("phase %d, %s: %d good answers of %.0f possible: want 90%%", i, p.name, good, can)
		}
	}
}

// TestTextsFitEightyColumns uses the longest duration.
func TestTextsFitEightyColumns(t *testing.T) {
	var out strings.Builder
	p := printer{Writer: &out}
	p.introduce(59999 * time.Millisecond)
	p.introduceBulkhead(59999 * time.Millisecond)
	p.second(second{at: 59 * time.Second, adaptive: figures.Line{Limit: 100, P95: time.Second}})
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !strings.Contains(line, "last change") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
