package throttle

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
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
