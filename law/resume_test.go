package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A setpoint that resumes holds the limit of the one before, where a fresh one climbs.
func TestResume(t *testing.T) {
	before := start(t, law.Setpoint{})
	if k := law.Learned(before, 4); k != (law.Knowledge{}) {
		t.Errorf("learned %v before the limit was reached", k)
	}
	limit := 4
	for range 30 {
		limit = int(before.Next(full(limit)).Limit)
	}
	learned := law.Learned(before, limit)
	if learned.Limit < 40 || learned.Limit > 80 || learned.NoLoad < 40*ms || learned.NoLoad > 60*ms {
		t.Fatalf("learned %v", learned)
	}
	after := start(t, law.Resume(law.Setpoint{}, learned))
	if d := after.Next(full(learned.Limit)); d.Limit < 0.8*float64(learned.Limit) || d.Limit > 1.2*float64(learned.Limit) {
		t.Errorf("%v: want a limit near %d", d, learned.Limit)
	}
	if _, retunes := after.(law.Retuner); !retunes {
		t.Error("cannot be retuned")
	}
}

// A law without knowledge of its own resumes from its limit, within the bounds.
func TestResumeFromALimit(t *testing.T) {
	for _, c := range []struct {
		l            law.Law
		limit, after int
	}{
		{law.Gradient{}, 37, 37},
		{law.Gradient{}, 5000, 1000},
		{law.Gradient{}, 0, 20},
		{law.Fixed{}, 37, 20},
	} {
		control := start(t, c.l)
		learned := law.Learned(control, c.limit)
		next := must.Have(law.Resume(c.l, learned).Controller(law.Bounds{Min: 1, Max: 1000, Initial: 20}))(t)
		initial := 20
		if learned.Limit > 0 {
			initial = min(learned.Limit, 1000)
		}
		if d := next.Next(law.Window{Limit: initial, Min: 1, Max: 1000}); int(d.Limit) != c.after {
			t.Errorf("%v at %d: resumes at %v, want %d", c.l, c.limit, d.Limit, c.after)
		}
	}
}

// full is a second under a limit that is reached, before 40 workers of 50 ms.
func full(limit int) law.Window {
	latency := max(50*ms, time.Duration(limit)*50*ms/40)
	return law.Window{
		Limit: limit, Min: 1, Max: 1000, Elapsed: time.Second, Samples: limit * int(time.Second/latency), Waited: 100,
		Mean: latency, Deviation: latency / 5, InFlight: float64(limit), Peak: limit, First: limit, Last: limit,
	}
}

// A limiter that resumes knows the no-load latency of its work, also where it first sees the work
// hang and then a server that is slow because others overload it.
func TestResumedSetpointDoesNotTakeAnOverloadForItsWork(t *testing.T) {
	c := start(t, law.Resume(law.Setpoint{}, law.Knowledge{Limit: 20, NoLoad: 5 * ms}))
	limit := int(c.Next(law.Window{
		Limit: 20, Min: 1, Max: 1000, Elapsed: time.Second, Timeouts: 30, InFlight: 20, Peak: 20, Refused: 10,
	}).Limit)
	for range 8 {
		limit = int(c.Next(law.Window{
			Limit: limit, Min: 1, Max: 1000, Elapsed: 2 * time.Second, Samples: max(limit, 3), Refused: 100,
			InFlight: float64(limit), Crowd: float64(limit), Peak: limit, First: limit, Last: limit,
			Mean: 2 * time.Second, Sojourn: 2 * time.Second,
		}).Limit)
	}
	if limit > 20 {
		t.Errorf("a limit of %d, want no more than before", limit)
	}
}
