package proxytest

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// An openLoop sends requests when they are due, at random times of a rate.
type openLoop struct {
	rate    float64 // a second
	during  time.Duration
	timeout time.Duration // after which a client leaves, from when its request was due
	seed    uint64
	request func(n int) *http.Request
	through func(http.RoundTripper) http.RoundTripper // limits the client, if it is not nil
}

type answer struct {
	n       int
	due     time.Duration // since the start
	latency time.Duration // since it was due
	status  int           // 0 if there was none
	bytes   int64
	err     error
}

func (a answer) ended() time.Duration { return a.due + a.latency }

// clients share connections, without a bound on them.
func clients() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1 << 20, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func gets(t testing.TB, url string) func(int) *http.Request {
	t.Helper()
	first := must.Have(http.NewRequest(http.MethodGet, url, http.NoBody))(t)
	return func(int) *http.Request { return first.Clone(context.Background()) }
}

// run sends the requests, until ctx ends, and returns once all are answered, or have timed out.
func (l openLoop) run(ctx context.Context) []answer {
	client := clients()
	defer client.CloseIdleConnections()
	if l.through != nil {
		client.Transport = l.through(client.Transport)
	}
	random := rand.New(rand.NewPCG(l.seed, 0))
	var (
		mu      sync.Mutex
		answers = make([]answer, 0, int(l.rate*l.during.Seconds()))
		all     sync.WaitGroup
		began   = time.Now()
		next    time.Duration
	)
	for n := 0; ctx.Err() == nil; n++ {
		next += time.Duration(random.ExpFloat64() / l.rate * float64(time.Second))
		due := next
		if due >= l.during {
			break
		}
		pause(time.Until(began.Add(due)))
		all.Go(func() {
			a := l.send(client, n, began.Add(due))
			a.due = due
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, a)
		})
	}
	all.Wait()
	slices.SortFunc(answers, func(a, b answer) int { return a.n - b.n })
	return answers
}

func (l openLoop) send(client *http.Client, n int, due time.Time) (a answer) {
	a.n = n
	ctx, cancel := context.WithDeadline(context.Background(), due.Add(l.timeout))
	defer cancel()
	defer func() { a.latency = time.Since(due) }()
	response, err := client.Do(l.request(n).WithContext(ctx))
	if err != nil {
		a.err = err
		return a
	}
	defer response.Body.Close()
	a.status = response.StatusCode
	a.bytes, a.err = io.Copy(io.Discard, response.Body)
	return a
}

// good counts the requests that were answered well, in time, between two moments since the start.
func good(answers []answer, from, to time.Duration) (n int) {
	for _, a := range answers {
		if a.ok() && a.ended() >= from && a.ended() < to {
			n++
		}
	}
	return n
}

func (a answer) ok() bool { return a.err == nil && a.status == http.StatusOK }

func quantile(answers []answer, q float64) time.Duration {
	var latencies []time.Duration
	for _, a := range answers {
		if a.ok() {
			latencies = append(latencies, a.latency)
		}
	}
	if len(latencies) == 0 {
		return 0
	}
	slices.Sort(latencies)
	return latencies[int(q*float64(len(latencies)-1))]
}

// median is the middle one, or the lower of two.
func median[T int64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
