package sim

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// A site is a scenario on a real server: HTTP over loopback, limiters in front, workers that
// sleep for the time of the work, and clients that neither wait for one another nor give up.
// It supports pools, and the faults speed and delay. Its limiters are the replicas of one
// machine: they share a wall clock.
type site struct {
	scenario Scenario // complete
	requests []request
	start    time.Time
	end      time.Duration
	workers  chan time.Duration // the free workers, by the time they became free
	server   *httptest.Server
	observed observed
}

// observed holds the measurements of a run.
type observed struct {
	mu                         sync.Mutex
	good, late, refused, other int
	behind                     Histogram // from the due time of a request to its sending
}

// openSite starts the server. run stops it.
func openSite(t *testing.T, s Scenario, l law.Law, seed uint64) *site {
	t.Helper()
	s = must.Have(s.complete())(t)
	e := &site{scenario: s, workers: make(chan time.Duration, s.Server.(WorkerPool).Workers)}
	for range cap(e.workers) {
		e.workers <- 0
	}
	for _, p := range s.Phases {
		e.end += p.Length
	}
	e.requests = requestsOf(s, seed)
	replicas := http.NewServeMux()
	for i := range s.Limiters {
		limiter := must.Have(weir.New(weir.Config{
			Law: l, Min: s.Limiter.Min, Max: s.Limiter.Max, Initial: s.Limiter.Initial,
			Interval: s.Limiter.Interval, Window: s.Limiter.Window, MinSamples: s.Limiter.MinSamples,
		}))(t)
		replicas.Handle(fmt.Sprintf("/%d/{number}", i), weirhttp.Limit(e, weirhttp.One(limiter)))
	}
	e.server = httptest.NewServer(replicas)
	e.server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 10_000
	return e
}

// requestsOf returns the requests that a simulation with that seed draws for a complete
// scenario.
func requestsOf(s Scenario, seed uint64) (list []request) {
	t := newTraffic(&s, seed)
	for t.advance(); t.next.at < Never; t.advance() {
		list = append(list, t.next)
	}
	return list
}

// ServeHTTP works on the request whose number follows the limiter's in the path.
func (e *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	came := time.Since(e.start)
	var free time.Duration
	select {
	case free = <-e.workers:
	case <-r.Context().Done():
		return
	}
	// A worker that overslept starts its next work in time: the load of the machine does
	// not change the capacity of the server.
	ends := e.ends(max(came, free), e.requests[number].work)
	e.sleep(r.Context(), ends)
	e.workers <- ends
	if delay := e.phase(ends).Delay; delay > 0 {
		e.sleep(r.Context(), ends+delay)
	}
	w.WriteHeader(http.StatusNoContent)
}

// sleep waits until a time of the run, or until the run ends.
func (e *site) sleep(ctx context.Context, until time.Duration) {
	select {
	case <-time.After(until - time.Since(e.start)):
	case <-ctx.Done():
	}
}

// ends returns the end of work that begins now, at the speeds until then.
func (e *site) ends(now, work time.Duration) time.Duration {
	phase := time.Duration(0)
	for i, p := range e.scenario.Phases {
		phase += p.Length
		done := now + time.Duration(float64(work)/p.Speed)
		if now < phase && done < phase || i == len(e.scenario.Phases)-1 {
			return done
		}
		if now < phase {
			work -= time.Duration(float64(phase-now) * p.Speed)
			now = phase
		}
	}
	return now
}

func (e *site) phase(at time.Duration) Phase {
	for _, p := range e.scenario.Phases {
		if at -= p.Length; at < 0 {
			return p
		}
	}
	return e.scenario.Phases[len(e.scenario.Phases)-1]
}

// run sends each request when it is due, and closes the server at the end of the scenario.
func (e *site) run(ctx context.Context, start time.Time) {
	defer e.server.Close()
	e.start = start
	ctx, over := context.WithDeadline(ctx, start.Add(e.end))
	defer over()
	var pending sync.WaitGroup
	defer pending.Wait()
	for number, r := range e.requests {
		select {
		case <-time.After(time.Until(start.Add(r.at))):
			pending.Go(func() { e.ask(ctx, number) })
		case <-ctx.Done():
			return
		}
	}
	<-ctx.Done()
}

// ask sends one request and records how it ended. Its latency counts from its due time, so
// that late clients do not flatter the server.
func (e *site) ask(ctx context.Context, number int) {
	due := e.requests[number].at
	url := fmt.Sprintf("%s/%d/%d", e.server.URL, e.requests[number].limiter, number)
	behind := time.Since(e.start) - due
	status := e.get(ctx, url)
	latency := time.Since(e.start) - due
	if ctx.Err() != nil {
		return // it was in progress when the scenario ended
	}
	o := &e.observed
	o.mu.Lock()
	defer o.mu.Unlock()
	o.behind.add(behind)
	switch {
	case status == http.StatusNoContent && latency <= e.scenario.SLO:
		o.good++
	case status == http.StatusNoContent:
		o.late++
	case status == http.StatusServiceUnavailable:
		o.refused++
	default:
		o.other++
	}
}

// get returns the status, 0 if there is none.
func (e *site) get(ctx context.Context, url string) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	answer, err := e.server.Client().Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// TestSameHarmOnHTTP is [TestSameOrderOnHTTP] for situations in which limiters do harm:
// bursts, replicas and long work, with a limiter that has default settings except for its
// law. A round takes five minutes:
//
//	go test ./sim -run SameHarmOnHTTP -v -timeout 30m -http 1
func TestSameHarmOnHTTP(t *testing.T) {
	compete(t, httpHazards(), func(Scenario) []string { return []string{"fixed(20)", "fixed(200)", "gradient", "setpoint"} })
}

// httpHazards returns scenarios of a minute, small enough for two busy cores: a fan-out on
// an idle server, four limiters that start in the midst of an overload, and work that takes
// a second.
func httpHazards() []Scenario {
	minute := []Phase{{Length: time.Minute}}
	return []Scenario{
		{
			Name: "bursts", Arrivals: Batches{Rate: 2, Size: 40}, Work: Exponential{Mean: 50 * ms},
			Server: WorkerPool{Workers: 1000}, SLO: 500 * ms, Phases: minute,
		},
		{
			Name: "replicas", Arrivals: Poisson{Rate: 300}, Work: Exponential{Mean: 50 * ms},
			Server: WorkerPool{Workers: 10}, SLO: 400 * ms, Limiters: 4, Phases: minute,
		},
		{
			Name: "long", Arrivals: Poisson{Rate: 24}, Work: Lognormal{Mean: time.Second, CV: 0.74},
			Server: WorkerPool{Workers: 16}, SLO: 7 * time.Second, Phases: minute,
		},
	}
}
