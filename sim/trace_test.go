package sim

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

func TestCapacity(t *testing.T) {
	for _, test := range []struct {
		server Server
		want   float64
	}{
		{WorkerPool{Workers: 7}, 7},
		{Sharing{Cores: 2.5}, 2.5},
		{Quadratic{Double: 60}, 30},
		{USL{Alpha: 0.02, Beta: 0.98 / 2500}, 50 / (1 + 0.02*49 + 0.98)},
		{USL{Alpha: 0.1}, 10},
		{USL{Alpha: 1, Beta: 1}, 1},
	} {
		// the throughput of any n jobs is at most that, and of one n nearly that
		best := 0.0
		for n := 1; n <= 2000 && test.server != Server(WorkerPool{Workers: 7}); n++ {
			station := must.Have(test.server.Station())(t)
			for job := range n {
				station.Start(0, Job(job), time.Second)
			}
			best = max(best, float64(n)/station.Next().Seconds())
		}
		got, known := EffectiveWorkers(test.server)
		if !known || math.Abs(got-test.want) > 0.02*test.want || best > got+1e-6 || best > 0 && best < 0.95*got {
			t.Errorf("%+v: %v, want %v; measured %v", test.server, got, test.want, best)
		}
	}
	for _, s := range []Server{Curve(func(float64) float64 { return 1 }), USL{}, Unbounded{}} {
		if got, known := EffectiveWorkers(s); known {
			t.Errorf("%T: %v", s, got)
		}
	}
}

func TestTraceFaster(t *testing.T) {
	trace := Trace{
		{time.Second, 300 * ms, "", 0},
		{2 * time.Second, 100 * ms, "", ms},
		{3 * time.Second, time.Hour, "", 0},
	}
	if got := trace.Offered(); math.Abs(got-0.2) > 1e-9 {
		t.Errorf("offered %v, want 0.2", got)
	}
	fast := trace.Faster(2)
	if math.Abs(fast.Offered()-0.4) > 1e-9 || fast[1] != (Arrival{
		time.Second, 100 * ms, "", ms,
	}) || trace[1].At != 2*time.Second {
		t.Errorf("%v", fast)
	}
	if (Trace{}).Offered() != 0 || trace[:1].Offered() != 0 {
		t.Error("a single request is an endless load")
	}
}

// TestTraceDeadline checks that a request of a trace has a deadline of its own, which
// applies to each attempt.
func TestTraceDeadline(t *testing.T) {
	s := steady(1, func(s *Scenario) {
		s.SLO = 100 * ms
		s.Trace = Trace{
			{0, 50 * ms, "", 40 * ms},
			{time.Second, 50 * ms, "", 0},
			{2 * time.Second, 150 * ms, "", 200 * ms},
		}
		s.Clients = []Client{{Cancel: true}}
	})
	if r := mustRun(t, s, nil, 1); r.Good != 2 || r.Cancelled != 1 {
		t.Errorf("%+v", r.Tally)
	}
	s.Clients[0].Cancel = false
	if r := mustRun(t, s, nil, 1); r.Good != 2 || r.Late != 1 {
		t.Errorf("%+v", r.Tally)
	}
	s.Clients[0].Untold = true
	s.Limiter = Limiter{Max: 1, Initial: 1, Queue: Queue{Size: 5}}
	s.Trace = Trace{{0, 300 * ms, "", time.Second}, {0, 10 * ms, "", 250 * ms}, {0, 10 * ms, "", 320 * ms}}
	if r := mustRun(t, s, nil, 1); r.Good != 2 || r.Requests != 3 {
		t.Errorf("%+v", r.Tally)
	}
}

// TestAnsweredByArrival checks that requests answered from a queue in the next phase count
// for the phase in which they came.
func TestAnsweredByArrival(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.SLO, s.Limiter = 10*time.Second, unlimited
		s.Phases = []Phase{{Length: 2 * time.Second}, {Length: 4 * time.Second, Load: 0.001}}
	})
	r := mustRun(t, s, nil, 1)
	if first, second := r.Phases[0], r.Phases[1]; first.Answered != first.Requests ||
		second.Answered != second.Requests || second.Good < 1500 {
		t.Errorf("%d of %d requests answered, then %d of %d",
			first.Answered, first.Requests, second.Answered, second.Requests)
	}
}

// TestWideBins checks that scenarios of hours have wider bins, and of days wider points.
func TestWideBins(t *testing.T) {
	for end, want := range map[time.Duration]time.Duration{
		0: binned, time.Hour: binned, mostBins * binned: binned, 10 * time.Hour: 6 * binned,
	} {
		if got := binWidth(end); got != want {
			t.Errorf("%v: bins of %v, want %v", end, got, want)
		}
	}
	s := steady(0.05, func(s *Scenario) {
		s.Phases[0].Length, s.Sample, s.SLO, s.Work = 10*time.Hour, time.Hour, time.Hour, Constant{Mean: 10 * time.Minute}
		s.Limiter.Initial = 5
	})
	long := steady(1, func(s *Scenario) {
		s.Trace = Trace{{At: 0, Work: ms}, {At: 9999 * time.Hour, Work: ms}}
		s.Phases[0].Length = s.Trace.Length()
	})
	if r := mustRun(t, long, nil, 1); r.Good != 2 || len(r.Series) > mostBins {
		t.Errorf("%d points of %+v", len(r.Series), r.Tally)
	}
	if c := mustScore(t, s, nil); c.Goodput > 60 || len(c.Phases) != 1 || c.FalseRefused == 0 {
		t.Errorf("%+v", c)
	}
}
