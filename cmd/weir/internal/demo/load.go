package demo

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// arrivals returns the times of requests, which are a Poisson process. A stream is the same in
// every run and for every lane, and differs from other streams.
func arrivals(stream uint64, perSecond float64, during time.Duration) []time.Duration {
	random := rand.New(rand.NewPCG(seed, stream))
	var at []time.Duration
	for t := 0.0; ; {
		t += random.ExpFloat64() / perSecond
		if t >= during.Seconds() {
			return at
		}
		at = append(at, time.Duration(t*float64(time.Second)))
	}
}

// verdict is the result of a request, as its client sees it.
type verdict int

const (
	good    verdict = iota // answered within the deadline
	late                   // answered after the deadline, or given up
	refused                // refused at once, to come back later
	broken                 // anything else
)

type result struct {
	verdict
	at      time.Duration // when the request was due
	latency time.Duration // of its answer, 0 without one
}

// load sends the requests of a route to a server in an open loop: its clients do not wait for each
// other.
type load struct {
	route
	server   string
	url      string
	client   *http.Client
	arrivals []time.Duration

	mu      sync.Mutex
	results []result
	shown   int // results before the last call of gained
}

func newLoad(r route, server, address string, arrivals []time.Duration) *load {
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 10_000, // so that no client waits for another connection to open
	}}
	return &load{route: r, server: server, url: address + r.path(), client: client, arrivals: arrivals}
}

func (r route) path() string { return strings.TrimPrefix(r.pattern, http.MethodGet+" ") }

// drive sends a request at each of the arrivals. It returns when all requests have ended, which the
// end of ctx causes too.
func (l *load) drive(ctx context.Context, start time.Time) {
	var pending sync.WaitGroup
	defer pending.Wait()
	for _, at := range l.arrivals {
		select {
		case <-time.After(time.Until(start.Add(at))):
			pending.Go(func() { l.ask(ctx, start.Add(at), at) })
		case <-ctx.Done():
			return
		}
	}
}

// ask sends one request and records its result. The latency counts from the time at which the
// request was due, so that a driver that lags does not flatter the server.
func (l *load) ask(ctx context.Context, due time.Time, at time.Duration) {
	waiting, giveUp := context.WithDeadline(ctx, due.Add(patience))
	defer giveUp()
	status, err := l.get(waiting)
	latency := time.Since(due)
	if ctx.Err() != nil {
		return // the demonstration was interrupted
	}

	ended := result{verdict: l.judge(status, err, latency, waiting), at: at}
	if status == http.StatusNoContent {
		ended.latency = latency
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results = append(l.results, ended)
}

func (r route) judge(status int, err error, latency time.Duration, waiting context.Context) verdict {
	switch {
	case status == http.StatusNoContent && latency <= r.deadline:
		return good
	case status == http.StatusNoContent, err != nil && waiting.Err() != nil:
		return late
	case status == http.StatusServiceUnavailable:
		return refused
	}
	return broken
}

func (l *load) get(ctx context.Context) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := l.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// gained returns the number of timely answers since the last call.
func (l *load) gained() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := l.results[l.shown:]
	l.shown = len(l.results)
	return count(since, good)
}

func count(results []result, v verdict) (n int) {
	for _, r := range results {
		if r.verdict == v {
			n++
		}
	}
	return n
}

// slowest returns the p99 of the latencies of the answers, 0 without answers.
func slowest(results []result) time.Duration {
	var served []time.Duration
	for _, r := range results {
		if r.latency > 0 {
			served = append(served, r.latency)
		}
	}
	if len(served) == 0 {
		return 0
	}
	slices.Sort(served)
	return served[(len(served)*99+99)/100-1]
}
