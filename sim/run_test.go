package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// steady returns a pool of ten workers of 10 ms with the given rate of requests.
func steady(rate float64, change func(*Scenario)) Scenario {
	s := Scenario{
		Name: "steady", Server: WorkerPool{Workers: 10}, Work: Constant{Mean: 10 * ms}, Arrivals: Poisson{Rate: rate},
		SLO: 100 * ms, Limiter: Limiter{Initial: 20}, Phases: []Phase{{Length: 10 * time.Second}},
	}
	if change != nil {
		change(&s)
	}
	return s
}

func mustRun(t testing.TB, s Scenario, l law.Law, seed uint64) *Result {
	t.Helper()
	return must.Have(Run(s, l, seed))(t)
}

// ran returns the engine of a simulation that has ended.
func ran(t testing.TB, s Scenario, seed uint64) *engine {
	t.Helper()
	e := must.Have(newEngine(s, seed))(t)
	must.Do(t, e.run())
	return e
}

// meanAfter returns the mean of a figure after a time.
func meanAfter(r *Result, after time.Duration, of func(Point) float64) (mean float64) {
	late := slices.DeleteFunc(slices.Clone(r.Series), func(p Point) bool { return p.At <= after })
	for _, p := range late {
		mean += of(p) / float64(len(late))
	}
	return mean
}

func goodOf(p Point) float64 { return p.Good }

// scenario reads a scenario of internal/suites, which imports this package.
func scenario(t testing.TB, name string) Scenario {
	t.Helper()
	text := must.Have(os.ReadFile(filepath.Join("..", "internal", "suites", "scenarios", name+".json")))(t)
	return must.Have(ParseScenario(name, text))(t)
}

// scenarios reads all of them.
func scenarios(t testing.TB) (all []Scenario) {
	t.Helper()
	files, err := filepath.Glob("../internal/suites/scenarios/*.json")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		all = append(all, scenario(t, strings.TrimSuffix(filepath.Base(file), ".json")))
	}
	return all
}

// TestLittle checks that after all work has ended, the integral of the concurrency is the
// sum of latencies, to the nanosecond.
func TestLittle(t *testing.T) {
	for _, server := range []Server{
		WorkerPool{Workers: 3},
		Sharing{Cores: 2},
		USL{Alpha: 0.1, Beta: 0.01},
		Quadratic{Double: 8},
	} {
		r := NewRand(7, 7)
		trace, at := Trace{}, 0.0
		for range 5000 {
			at += mul(5e6, r.Exp())
			trace = append(trace, Arrival{At: time.Duration(at), Work: Exponential{Mean: 10 * ms}.Draw(r)})
		}
		e := ran(t, Scenario{
			Server: server, Trace: trace, SLO: time.Hour, Limiter: unlimited,
			Phases: []Phase{{Length: 10 * time.Second}, {Length: time.Hour, Speed: 0.7}},
		}, 1)
		p := e.record.phases
		if done := p[0].tally().Good + p[1].tally().Good; done != len(trace) || e.record.inflight != 0 {
			t.Fatalf("%T: %d of %d done", server, done, len(trace))
		}
		if area, sum := p[0].area+p[1].area, p[0].Latency.sum+p[1].Latency.sum; area != sum {
			t.Errorf("%T: area %d, latencies %d", server, area, sum)
		}
	}
}

// TestNothingIsLost checks that every attempt ends in one way, and that limiters and server
// agree on the running work.
func TestNothingIsLost(t *testing.T) {
	for _, s := range scenarios(t) {
		for _, queue := range []Queue{{}, {Size: 30, Timeout: 50 * ms}, {Adaptive: true}} {
			s.Limiter.Queue = queue
			shorten(&s, time.Second)
			balance(t, ran(t, s, 3))
		}
	}
}

// balance checks that every attempt has ended in one way, runs or waits, and that the limiters
// agree on the units of running work.
func balance(t *testing.T, e *engine) (sum Tally, ended int) {
	t.Helper()
	sum = e.record.tally()
	inflight, queued := 0, 0
	for _, n := range e.nodes {
		state := n.State(int64(e.now))
		inflight, queued = inflight+state.InFlight, queued+state.Queued
	}
	ended = sum.Good + sum.Late + sum.Failed + sum.Refused + sum.Cancelled
	if inflight != e.record.inflight || sum.Attempts != ended+inflight+queued || sum.Attempts < sum.Requests {
		t.Errorf("%s, %+v, queue %+v: %d attempts, %d ended, %d in flight (%d by our count), %d queued",
			e.scenario.Name, e.scenario.Clients, e.scenario.Limiter.Queue, sum.Attempts, ended, inflight, e.record.inflight, queued)
	}
	return sum, ended
}

// shorten shortens every phase.
func shorten(s *Scenario, length time.Duration) {
	phases := s.Phases
	s.Phases = nil
	for _, p := range phases {
		p.Length = min(p.Length, length)
		s.Phases = append(s.Phases, p)
	}
}

// A run ends with its context, and meanwhile is the one without.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := RunContext(ctx, steady(800, nil), law.Fixed{Limit: 10}, 1)
	if want := mustRun(t, steady(800, nil), law.Fixed{Limit: 10}, 1); err != nil || r.Good != want.Good {
		t.Errorf("%v with a context, %v without", r, want)
	}
	asked := 0
	_, err = RunContext(ctx, steady(800, nil), leaving{func() {
		asked++
		cancel()
	}}, 1)
	if !errors.Is(err, context.Canceled) || asked == 0 || asked > 20 {
		t.Errorf("asked the law %d times: %v", asked, err)
	}
}

// The context also ends a run in which a long time passes without a request.
func TestRunWithoutRequestsEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := steady(1, func(s *Scenario) { s.Arrivals = idle{cancel} })
	if _, err := RunContext(ctx, s, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// idle arrivals never come. Their rate holds for a nanosecond at a time, and their caller leaves.
type idle struct{ leave func() }

func (i idle) Rates(*Rand) Rates { return i }

func (i idle) Next(now time.Duration) (perSecond float64, until time.Duration) {
	i.leave()
	return 0, now
}

// leaving is a fixed law whose caller leaves when it is asked.
type leaving struct{ leave func() }

func (l leaving) Controller(law.Bounds) (law.Controller, error) { return l, nil }

func (l leaving) Next(law.Window) law.Decision {
	l.leave()
	return law.Decision{Limit: 10}
}

// TestGolden notices changes in the behavior of the core or the simulation.
func TestGolden(t *testing.T) {
	names := []string{"exp-1.5x", "usl-2x", "slow30", "retry-storm", "8clients", "cancel30", "kata"}
	must.Golden(t, "testdata/golden.txt", tallies(t, names, law.Fixed{}, law.Band{Target: 150 * ms}), *update)
}

// TestGoldenLaws notices changes in the behavior of a law.
func TestGoldenLaws(t *testing.T) {
	must.Golden(t, "testdata/laws.txt", tallies(t, []string{"exp-1.5x", "usl-2x", "slow30"},
		law.AIMD{Timeout: 150 * ms}, law.Gradient{}, law.Gradient2{}, law.Vegas{},
		law.Little{Remeasure: 2 * time.Second},
		law.PID{Target: 150 * ms}, law.Setpoint{}, law.Setpoint{Budget: 300 * ms}), *update)
}

// tallies returns a line for each scenario, cut to phases of 4 s, and law.
func tallies(t *testing.T, names []string, laws ...law.Law) []byte {
	t.Helper()
	var table bytes.Buffer
	for _, name := range names {
		s := scenario(t, name)
		shorten(&s, 4*time.Second)
		for _, l := range laws {
			r := mustRun(t, s, l, 1)
			fmt.Fprintf(&table, "%s %s: %+v, p50 %v, p99 %v, limit %.3f\n",
				r.Scenario, r.Law, r.Tally, r.Latency.Quantile(0.5), r.Latency.Quantile(0.99), r.LimitMean)
		}
	}
	return table.Bytes()
}

// TestKata checks that the limit climbs to the start of the band and stays there.
func TestKata(t *testing.T) {
	r := mustRun(t, scenario(t, "kata"), nil, 1)
	var table strings.Builder
	for _, p := range r.Series {
		fmt.Fprintf(&table, "%v: limit %d, in flight %d, queued %d, p95 %v, admitted %.0f, refused %.0f\n",
			p.At, p.Limit, p.InFlight, p.Queued, p.P95.Round(ms), p.Throughput, p.Refused)
	}
	must.Golden(t, "testdata/kata.txt", table.String(), *update)
	for _, c := range r.Changes {
		if c.At > time.Minute {
			t.Errorf("after %v the limit still moves: %v", c.At, law.Explain(c.Reason, c.From, c.To))
		}
	}
}

func TestClients(t *testing.T) {
	overload := func(change func(*Client)) *Result {
		return mustRun(t, steady(2000, func(s *Scenario) {
			s.Clients = make([]Client, 1)
			change(&s.Clients[0])
		}), nil, 1)
	}
	none := overload(func(*Client) {})
	if none.Attempts != none.Requests || none.Refused == 0 {
		t.Errorf("without retries: %+v", none.Tally)
	}
	all := overload(func(c *Client) { c.Retry = Retry{Times: 3, Backoff: 10 * ms} })
	if all.Attempts < 5*all.Requests/2 || all.Good < none.Good {
		t.Errorf("with three retries: %+v", all.Tally)
	}
	few := overload(func(c *Client) { c.Retry = Retry{Times: 3, Backoff: 10 * ms, Budget: 0.1} })
	if extra := few.Attempts - few.Requests; extra < few.Requests/12 || extra > few.Requests/9 {
		t.Errorf("with a retry budget of 10%%: %+v", few.Tally)
	}
}

// TestHeed checks that after a burst, clients that honor Retry-After find room.
func TestHeed(t *testing.T) {
	attempts := func(heed bool) int {
		r := mustRun(t, steady(1000, func(s *Scenario) {
			s.Limiter.Queue = Queue{Size: 50, Timeout: time.Second}
			s.Clients = []Client{{Retry: Retry{Times: 3, Backoff: 1, Heed: heed}}}
			s.Phases = []Phase{{Length: 30 * ms, Load: 5}, {Length: 5 * time.Second, Load: 0.1}}
		}), nil, 1)
		return r.Attempts - r.Requests
	}
	if heeding, not := attempts(true), attempts(false); heeding > not/2 {
		t.Errorf("%d attempts more by those who come back when told, %d by those who do not wait", heeding, not)
	}
}

// TestRetriesOfErrors checks that each attempt fails independently.
func TestRetriesOfErrors(t *testing.T) {
	r := mustRun(t, steady(200, func(s *Scenario) {
		s.Phases[0].Errors = 0.5
		s.Clients = []Client{{Retry: Retry{Times: 1}}}
	}), nil, 1)
	if share := float64(r.Good) / float64(r.Requests); share < 0.7 || share > 0.8 {
		t.Errorf("%.2f good of requests that fail half the time and are tried twice, want 0.75", share)
	}
}

// TestOnTheSLO checks that an answer at the instant of the SLO is in time, and that no
// client retries.
func TestOnTheSLO(t *testing.T) {
	s := steady(100, func(s *Scenario) {
		s.SLO, s.Phases[0].Delay = 30*ms, 20*ms
		s.Clients = []Client{{Retry: Retry{Times: 1}}, {Cancel: true}}
	})
	if r := mustRun(t, s, nil, 1); r.Attempts != r.Requests || r.Cancelled+r.Late > 0 || r.Good < 900 {
		t.Errorf("%+v", r.Tally)
	}
}

// TestCancel checks a limit that is far too high: completed work is too late, and work that
// starts late is cancelled.
func TestCancel(t *testing.T) {
	high := func(cancel bool, retries int) *Result {
		return mustRun(t, steady(1500, func(s *Scenario) {
			s.Limiter.Initial = 1000
			s.Clients = []Client{{Cancel: cancel, Retry: Retry{Times: retries, Backoff: ms}}}
		}), nil, 1)
	}
	if r := high(false, 0); r.Late < 8000 || r.Cancelled > 0 {
		t.Errorf("not cancelling: %+v", r.Tally)
	}
	if r := high(true, 0); r.Late > 0 || r.Cancelled < 10000 || r.Good+r.Cancelled < r.Requests-200 {
		t.Errorf("cancelling: %+v", r.Tally)
	}
	if r := high(false, 2); r.Attempts < 2*r.Requests || r.Late < 8000 {
		t.Errorf("trying again while the last attempt is still worked on: %+v", r.Tally)
	}
}

func TestPriorities(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.Limiter.Initial = 10
		s.Limiter.Queue = Queue{Size: 20, Timeout: 50 * ms}
	})
	s.Clients = []Client{{Name: "high"}, {Name: "low", Share: 3, Priority: 3}}
	both := mustRun(t, s, nil, 1)
	s.Clients[1].SLO = ms // only requests of high priority can be good now
	high := mustRun(t, s, nil, 1)
	if both.Good < 9500 || high.Good < 4000 || high.Good > 5500 {
		t.Errorf("good %d, of which high %d", both.Good, high.Good)
	}
	s.Limiter.Queue.Timeout = 2 * ms
	if r := mustRun(t, s, nil, 1); r.Latency.Quantile(1) > 13*ms {
		t.Errorf("latency %v with 2ms in the queue at most", r.Latency.Quantile(1))
	}
	s.Limiter.Queue.Timeout = time.Second
	s.Clients[0].SLO, s.Clients[0].Untold, s.Clients[1].Untold = 15*ms, true, true
	if r := mustRun(t, s, nil, 1); r.Cancelled == 0 {
		t.Errorf("no request leaves the queue at their SLO: %+v", r.Tally)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		phase  Phase
		good   float64 // share of the requests
		median time.Duration
	}{
		{"none", Phase{}, 1, 10 * ms},
		{"half speed", Phase{Speed: 0.5}, 1, 20 * ms},
		{"half the workers", Phase{Workers: 0.5}, 1, 10 * ms},
		{"one worker left", Phase{Workers: 0.01}, 0.4, 87 * ms},
		{"delay", Phase{Delay: 30 * ms}, 1, 40 * ms},
		{"errors", Phase{Errors: 0.25}, 0.75, 10 * ms},
		{"other work", Phase{Work: Constant{Mean: 5 * ms}}, 1, 5 * ms},
		{"half the load", Phase{Load: 0.5}, 0.5, 10 * ms},
		{"pauses", Phase{Pause: Pause{Every: time.Second, For: 500 * ms}}, 0.5, 10 * ms},
	}
	for _, test := range tests {
		s := steady(250, func(s *Scenario) {
			if test.name == "one worker left" {
				s.Limiter.Initial = 9
			}
			test.phase.Length = 20 * time.Second
			s.Phases = []Phase{{Length: time.Second}, test.phase}
		})
		r := mustRun(t, s, nil, 1).Phases[1]
		share, median := float64(r.Good)/5000, r.Latency.Quantile(0.5)
		if share < test.good-0.08 || share > test.good+0.05 || median < test.median*98/100 ||
			median > test.median*102/100 {
			t.Errorf("%s: %.2f good, median %v; want %.2f, %v", test.name, share, median, test.good, test.median)
		}
	}
}

// A lifo is a custom server: one worker, newest first.
type lifo struct {
	stack []Job
	works []time.Duration
	ends  time.Duration
}

func (*lifo) Station() (Station, error) { return &lifo{ends: Never}, nil }

func (l *lifo) Start(now time.Duration, job Job, work time.Duration) {
	if l.ends == Never {
		l.ends = now + work
		l.stack, l.works = append(l.stack, job), append(l.works, work)
		return
	}
	last := len(l.stack) - 1
	l.stack, l.works = append(l.stack[:last], job, l.stack[last]), append(l.works[:last], work, l.works[last])
}

func (l *lifo) Next() time.Duration { return l.ends }

func (l *lifo) Finish(now time.Duration) Job {
	last := len(l.stack) - 1
	job := l.stack[last]
	l.stack, l.works = l.stack[:last], l.works[:last]
	l.ends = Never
	if last > 0 {
		l.ends = now + l.works[last-1]
	}
	return job
}

func (*lifo) Abandon(time.Duration, Job)       {}
func (*lifo) Change(time.Duration, Conditions) {}

// TestServersOfOnesOwn checks that the mean latency does not depend on the order of service.
func TestServersOfOnesOwn(t *testing.T) {
	r := mustRun(t, queueOf(&lifo{}, Exponential{Mean: 10 * ms}, 70), nil, 1)
	within(t, "mean", r.Latency.Mean().Seconds(), 0.01/0.3)
	fifo := mustRun(t, queueOf(WorkerPool{Workers: 1}, Exponential{Mean: 10 * ms}, 70), nil, 1)
	if r.Latency.Quantile(0.999) < 2*fifo.Latency.Quantile(0.999) {
		t.Error("newest first has no longer tail than oldest first")
	}
}

// A bomb is a law that panics.
type bomb struct{}

func (bomb) Controller(law.Bounds) (law.Controller, error) { return bomb{}, nil }

func (bomb) Next(w law.Window) law.Decision {
	if w.Completed() > 0 {
		panic("boom")
	}
	return law.Decision{Limit: float64(w.Limit)}
}

func TestPanickingLaw(t *testing.T) {
	if _, err := Run(steady(100, nil), bomb{}, 1); err == nil ||
		!strings.Contains(err.Error(), `sim: scenario "steady", at 1`) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
}

func TestSeries(t *testing.T) {
	s := steady(800, func(s *Scenario) { s.Sample = 100 * ms })
	r := mustRun(t, s, nil, 1)
	if len(r.Series) != 100 || r.Series[99].At != 10*time.Second {
		t.Fatalf("%d points", len(r.Series))
	}
	good, refused := 0.0, 0.0
	for _, p := range r.Series {
		good, refused = good+p.Good/10, refused+p.Refused/10
		if p.Limit != 20 || p.P95 > p.P99 || p.InFlight > 20 {
			t.Fatalf("%+v", p)
		}
	}
	if int(good+0.5) != r.Good || int(refused+0.5) != r.Refused {
		t.Errorf("the series has %v good and %v refused, the tally %d and %d", good, refused, r.Good, r.Refused)
	}
}

// TestAllocations checks that a longer run allocates hardly more.
func TestAllocations(t *testing.T) {
	count := func(length time.Duration) float64 {
		s := steady(2000, func(s *Scenario) {
			s.Phases[0].Length, s.Sample = length, time.Hour
			s.Limiter.Queue.Adaptive = true
			s.Clients = []Client{{Cancel: true, Retry: Retry{Times: 1, Backoff: ms}}}
		})
		return testing.AllocsPerRun(1, func() { mustRun(t, s, nil, 1) })
	}
	if short, long := count(3*time.Second), count(10*time.Second); long-short > 100 {
		t.Errorf("%v allocations for 14,000 requests more", long-short)
	}
}
