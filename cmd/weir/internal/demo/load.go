package demo

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// arrivals returns when requests come in: a Poisson process, the same in every
// run and for every lane.
func arrivals(perSecond float64, during time.Duration) []time.Duration {
	random := rand.New(rand.NewPCG(seed, 0))
	var at []time.Duration
	for t := 0.0; ; {
		t += random.ExpFloat64() / perSecond
		if t >= during.Seconds() {
			return at
		}
		at = append(at, time.Duration(t*float64(time.Second)))
	}
}

// verdict is how a request ended, as its client sees it.
type verdict int

const (
	good    verdict = iota // answered within the deadline
	late                   // answered after it, or given up on
	refused                // told at once to come back later
	broken                 // anything else
	verdicts
)

// load asks a server for more than it can do: an open loop, whose clients
// neither wait for each other nor know how the others fare.
type load struct {
	url    string
	client *http.Client
	course course

	mu     sync.Mutex
	counts [len(phases)][verdicts]int // by the phase of the arrival
	served []time.Duration            // latencies of what was answered, good or late
}

func newLoad(url string, c course) *load {
	return &load{
		url:    url,
		course: c,
		client: &http.Client{Transport: &http.Transport{
			MaxIdleConnsPerHost: 10_000, // so that no client waits for another's connection to open
		}},
	}
}

// drive sends a request at each of the arrivals and returns when all have ended,
// or at once when ctx does.
func (l *load) drive(ctx context.Context, start time.Time, arrivals []time.Duration) {
	var pending sync.WaitGroup
	defer pending.Wait()
	for _, at := range arrivals {
		select {
		case <-time.After(time.Until(start.Add(at))):
			pending.Go(func() { l.ask(ctx, start.Add(at), at) })
		case <-ctx.Done():
			return
		}
	}
}

// ask sends one request and notes how it ended. Its latency counts from when it
// was due, so that a driver that lags does not flatter the server.
func (l *load) ask(ctx context.Context, due time.Time, at time.Duration) {
	waiting, giveUp := context.WithDeadline(ctx, due.Add(patience))
	defer giveUp()
	status, err := l.get(waiting)
	latency := time.Since(due)
	if ctx.Err() != nil {
		return // the demonstration was interrupted
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[l.course.phase(at)][judge(status, err, latency, waiting)]++
	if status == http.StatusNoContent {
		l.served = append(l.served, latency)
	}
}

func judge(status int, err error, latency time.Duration, waiting context.Context) verdict {
	switch {
	case status == http.StatusNoContent && latency <= deadline:
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

// sum counts the verdicts over all phases.
func (l *load) sum(v verdict) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := 0
	for _, phase := range l.counts {
		total += phase[v]
	}
	return total
}

// slowest returns the p99 of what was answered.
func (l *load) slowest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.served) == 0 {
		return 0
	}
	slices.Sort(l.served)
	return l.served[(len(l.served)*99+99)/100-1]
}
