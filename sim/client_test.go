package sim

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// TestWeight checks that a request of weight 5 takes five units of the limit and five
// workers, and is answered when the last is done.
func TestWeight(t *testing.T) {
	s := steady(1, func(s *Scenario) {
		s.Clients = []Client{{Weight: 5}}
		s.Trace = Trace{{At: 0, Work: 10 * ms}, {At: ms, Work: 10 * ms}, {At: 2 * ms, Work: 10 * ms}}
		s.Server = WorkerPool{Workers: 7}
		s.Limiter.Initial = 10
		s.Phases[0].Length = time.Second
	})
	r := mustRun(t, s, nil, 1)
	if r.Good != 2 || r.Refused != 1 || r.Latency.Quantile(0) < 9900*time.Microsecond ||
		r.Latency.Quantile(1) < 19*ms || r.Latency.Mean() != 14500*time.Microsecond {
		t.Errorf("%+v, latencies from %v to %v, mean %v", r.Tally, r.Latency.Quantile(0), r.Latency.Quantile(1),
			r.Latency.Mean())
	}
	if got, want := r.Phases[0].InFlight, 5*0.029; got != want {
		t.Errorf("%v in flight, want %v", got, want)
	}
}

// TestNothingHeavyIsLost checks that all units are released, however requests end.
func TestNothingHeavyIsLost(t *testing.T) {
	for i, server := range []Server{WorkerPool{Workers: 10}, Sharing{Cores: 10}} {
		for _, client := range []Client{
			{},
			{Cancel: true},
			{Retry: Retry{Times: 2, Backoff: 10 * ms}},
			{Cancel: true, Slow: 5 * ms, Retry: Retry{Times: 1}},
		} {
			s := steady(400, func(s *Scenario) {
				heavy := client
				heavy.Weight, heavy.Share = 7, 0.3
				s.Clients, s.Server, s.SLO, s.Work = []Client{client, heavy}, server, 40*ms, Exponential{Mean: 10 * ms}
				s.Limiter.Initial = 40
				s.Limiter.Queue = []Queue{{}, {Size: 30, Timeout: 20 * ms}}[i]
				s.Phases = []Phase{
					{Length: 2 * time.Second},
					{Length: time.Second, Down: true},
					{Length: time.Second},
					{Length: time.Second, Load: 0.001},
				}
			})
			e := ran(t, s, 1)
			if sum, ended := balance(t, e); ended != sum.Attempts || sum.Good == 0 || len(e.free) != len(e.attempts) {
				t.Errorf("%T, %+v: %+v, %d of %d slots free", server, client, sum, len(e.free), len(e.attempts))
			}
		}
	}
}

// TestHeavyWaiters checks that a waiter takes its weight of the limit.
func TestHeavyWaiters(t *testing.T) {
	s := steady(400, func(s *Scenario) {
		s.Clients = []Client{{Weight: 7}}
		s.Limiter.Queue.Size = 30
	})
	e := ran(t, s, 1)
	if state := e.nodes[0].State(int64(e.now)); state.Queued == 0 || state.InFlight != 14 || e.record.inflight != 14 {
		t.Errorf("%d queued, %d in flight, %d by our count, want two requests of 7",
			state.Queued, state.InFlight, e.record.inflight)
	}
}

// TestSlow checks that a client that reads slowly takes a slot, and no worker.
func TestSlow(t *testing.T) {
	s := steady(900, func(s *Scenario) {
		s.Clients = []Client{{Slow: 30 * ms}}
		s.Limiter.Initial = 60
	})
	r := mustRun(t, s, nil, 1)
	if r.Good < 8500 || r.Latency.Quantile(0) < 39*ms || r.Phases[0].InFlight < 30 {
		t.Errorf("%+v, least %v, %v in flight", r.Tally, r.Latency.Quantile(0), r.Phases[0].InFlight)
	}
}

// A deaf law counts the outcomes that it receives.
type deaf struct{ outcomes *[3]int }

func (d deaf) Controller(law.Bounds) (law.Controller, error) { return d, nil }

func (d deaf) Next(w law.Window) law.Decision {
	for i, n := range []int{w.Samples, w.Failures, w.Timeouts} {
		d.outcomes[i] += n
	}
	return law.Decision{Limit: float64(w.Limit), Next: law.Plan{MaxSamples: 10}}
}

func TestTimeoutAtSLO(t *testing.T) {
	for _, told := range []bool{false, true} {
		s := steady(500, func(s *Scenario) {
			s.SLO = 5 * ms // all are late
			s.Clients = []Client{{TimeoutAtSLO: told}}
		})
		var seen [3]int
		r := mustRun(t, s, deaf{&seen}, 1)
		if timeouts := seen[window.Timeout]; r.Late < 4000 || told != (timeouts > 3000) ||
			told != (seen[window.Success] == 0) {
			t.Errorf("told %v: %+v, outcomes %v", told, r.Tally, seen)
		}
	}
}

// TestDown checks that running work fails when the server goes down, that new work fails at
// once, and that both release their slots.
func TestDown(t *testing.T) {
	s := steady(500, func(s *Scenario) {
		s.Work = Constant{Mean: time.Second}
		s.SLO = 3 * time.Second
		s.Phases = []Phase{
			{Length: 1500 * ms},
			{Length: time.Second, Down: true, ErrorTime: 10 * time.Microsecond},
			{Length: 1500 * ms},
		}
	})
	r := mustRun(t, s, nil, 1)
	down := r.Phases[1]
	if down.Good+down.Late+down.Refused > 0 || down.Failed < 400 || down.InFlight > 0.01 {
		t.Errorf("down: %+v, %v in flight", down.Tally, down.InFlight)
	}
	if after := r.Phases[2]; after.Good != 10 || after.Failed > 0 {
		t.Errorf("after it: %+v", after.Tally)
	}
	s.Server, s.Phases[1].ErrorTime = WorkerPool{Workers: 1}, 10*ms
	if down := mustRun(t, s, nil, 1).Phases[1]; down.Refused > 0 || down.Latency.Count() > 0 || down.InFlight > 6 {
		t.Errorf("errors take 10 ms each of a server that is not there: %+v, %v in flight", down.Tally, down.InFlight)
	}
}
