package throttle

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// An operation that the pace refuses comes back before the queue has drained, any other when the
// limiter says, and all within 10 s. The limiter says nothing of one that waiting does not help.
func TestComeBack(t *testing.T) {
	for _, test := range []struct {
		reason     weir.Reason
		told, want time.Duration
	}{
		{weir.ReasonPace, 30 * time.Second, 150 * time.Millisecond},
		{weir.ReasonPace, 200 * time.Millisecond, 100 * time.Millisecond},
		{weir.ReasonQueueFull, 200 * time.Millisecond, 200 * time.Millisecond},
		{weir.ReasonQueueTimeout, 30 * time.Second, 10 * time.Second},
		{weir.ReasonClosed, 0, 0},
	} {
		if got := comeBack(test.reason, test.told); got != test.want {
			t.Errorf("%v, %v: %v, want %v", test.reason, test.told, got, test.want)
		}
	}
}

// Cost that was admitted while nothing decided is no flow, and one that is corrected downwards
// counts for the next amount.
func TestCostSinceTheLastDecision(t *testing.T) {
	p := must.Have(newPacer(Write, "Writes", Side{Laws: []LoadLaw{Concurrency{}}}, Config{}))(t)
	p.begin(100)
	for _, step := range []struct {
		cost uint64
		want float64
	}{{100, 0}, {90, 0}, {105, 5}} {
		if got := p.admitted(step.cost, time.Second); got != step.want {
			t.Errorf("at %d: %v since the last decision, want %v", step.cost, got, step.want)
		}
	}
}

// Without signals a side without a LoadPID has the one by default, which begins at the pace that
// there is.
func TestFallback(t *testing.T) {
	for op, slowest := range [ops]float64{Read: 5, Write: 1} {
		laws, err := startLaws(Op(op), "", []LoadLaw{Concurrency{}}, nil)
		if err != nil || laws.fallback.slowest != slowest {
			t.Errorf("%v: %+v, %v, want a slowest pace of %v", Op(op), laws.fallback, err, slowest)
		}
		l := laws.fallback
		l.resume(10, 1000)
		if got := l.rate(l.loop.Snapshot().Output); l.fastest != 1000 || math.Abs(got-10) > 1e-9 {
			t.Errorf("%v: it goes on at %v, and at most at %v, want 10 and 1000", Op(op), got, l.fastest)
		}
	}
	fault := errors.New("no answer")
	if err := lost(load.Feeds{{Missing: true, Err: load.ErrUnavailable}, {Err: fault}}); !errors.Is(err, fault) {
		t.Errorf("%v is said to be lost", err)
	}
}

// The bound that remains from lost signals ends, however long they are lost.
func TestHeldPaceEnds(t *testing.T) {
	p := pacer{held: 1000}
	for range 10 {
		p.ease(time.Minute)
	}
	if p.held != 1000<<10 {
		t.Errorf("held at %v after 10 minutes, want %v", p.held, 1000<<10)
	}
	for range 24 * 60 {
		p.ease(time.Minute)
	}
	if p.held != 0 {
		t.Errorf("held at %v after a day", p.held)
	}
}

// Equal steps of effort are equal factors of the rate.
func TestEffortIsSpentOnALogarithmicScale(t *testing.T) {
	l := pidLaw{slowest: 1, fastest: 10_000}
	for effort, want := range map[float64]float64{0: 0, 0.25: 1000, 0.5: 100, 0.75: 10, 1: 1} {
		if got := l.rate(effort); math.Abs(got-want) > 1e-9*want {
			t.Errorf("an effort of %v is a rate of %v, want %v", effort, got, want)
		}
	}
	idle := pidLaw{slowest: 1}
	if got := idle.rate(0.5); got != math.Sqrt2 {
		t.Errorf("half the effort where nothing ran is a rate of %v, want one between the slowest and twice that", got)
	}
}

// The flow of a burst counts as one that the store takes for about a minute.
func TestFlowIsForgotten(t *testing.T) {
	l := must.Have(LoadPID{}.start(""))(t).(*pidLaw)
	calm := signals{dt: time.Second, load: 0.1, flow: 1}
	l.next(signals{dt: time.Second, load: 0.1, flow: 1000})
	for range 60 {
		l.next(calm)
	}
	if want := 1000 / math.E; math.Abs(l.fastest-want) > 1 {
		t.Errorf("the fastest pace is %v a minute after 1000, want %v", l.fastest, want)
	}
}

// A few latencies make no quantile: their mean counts.
func TestLatencyOfFewOperations(t *testing.T) {
	snap := weir.Snapshot{Mean: time.Second, P95: 4 * time.Second}
	for samples, want := range map[int]float64{enough - 1: 1, enough: 4} {
		snap.Samples = samples
		if got := latencyLoad(time.Second, snap).Load(); got != want {
			t.Errorf("of %d samples: a load of %v, want %v", samples, got, want)
		}
	}
	snap.Age = 10 * time.Second
	if got := latencyLoad(time.Second, snap).Load(); got != 5 {
		t.Errorf("with one that runs for ten times the target: a load of %v, want 5", got)
	}
}

// A source whose numbers are beyond all sense leaves the pace as it is.
func TestAbsurdRate(t *testing.T) {
	p := pacer{pace: Pace{Rate: 5}}
	for _, rate := range []float64{math.Inf(1), math.NaN()} {
		if got := p.paceOf(rate); got != p.pace {
			t.Errorf("a rate of %v is the pace %v", rate, got)
		}
	}
}
