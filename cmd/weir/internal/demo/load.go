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

// arrivals returns the times of requests: a Poisson process, the same in every run and for
// every lane. Streams differ.
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
	verdicts
)

// load sends a server more requests of a route than its capacity: an open loop, whose clients do
// not wait for each other.
type load struct {
	route
	part   func(at time.Duration) int // in which a request at that time counts
	url    string
	client *http.Client

	mu     sync.Mutex
	counts [][verdicts]int // by part
	served []time.Duration // latencies of answers, good or late
}

func newLoad(address string, r route, d *demonstration) *load {
	return &load{
		route:  r,
		part:   d.part,
		url:    address + r.path(),
		counts: make([][verdicts]int, len(d.parts)),
		client: &http.Client{Transport: &http.Transport{
			MaxIdleConnsPerHost: 10_000, // so that no client waits for another connection to open
		}},
	}
}

func (r route) path() string { return strings.TrimPrefix(r.pattern, http.MethodGet+" ") }

// drive sends a request at each of the arrivals. It returns when all have ended, or at once
// when ctx ends.
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

// ask sends one request and records its result. The latency counts from when it was due, so
// that a driver that lags does not flatter the server.
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
	l.counts[l.part(at)][l.judge(status, err, latency, waiting)]++
	if status == http.StatusNoContent {
		l.served = append(l.served, latency)
	}
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

func (l *load) counted() [][verdicts]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.counts)
}

// sum counts the verdicts over all parts.
func (l *load) sum(v verdict) (total int) {
	for _, part := range l.counted() {
		total += part[v]
	}
	return total
}

// slowest returns the p99 of the answers.
func (l *load) slowest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.served) == 0 {
		return 0
	}
	slices.Sort(l.served)
	return l.served[(len(l.served)*99+99)/100-1]
}
