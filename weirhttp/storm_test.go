package weirhttp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

const (
	stormClients = 10
	stormRate    = 100.0 // requests of each a second: twice what the server can do
	stormSlots   = 25
	stormWork    = 50 * time.Millisecond // mean, spread evenly from half to one and a half of it
	stormFront   = 800 * time.Microsecond
	stormPatient = 3 * time.Second // how long a caller waits
	stormWarmUp  = 5 * time.Second
	stormLength  = 15 * time.Second
)

// A storm counts what happens between the warm-up and its end.
type storm struct {
	began                   time.Time
	offered, attempts, good atomic.Int64
}

func (s *storm) count(n *atomic.Int64) {
	if at := time.Since(s.began); at >= stormWarmUp && at < stormLength {
		n.Add(1)
	}
}

// server does 500 requests a second. Each attempt, refused or not, takes its front 0.8 ms, so it can answer 1250 attempts a second.
func (s *storm) server(t *testing.T) http.RoundTripper {
	front := make(chan struct{}, 1)
	h := limit(fixed(t, stormSlots), func(http.ResponseWriter, *http.Request) {
		time.Sleep(time.Duration((0.5 + rand.Float64()) * float64(stormWork)))
	})
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		s.count(&s.attempts)
		front <- struct{}{}
		time.Sleep(stormFront)
		<-front
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w.Result(), req.Context().Err()
	})
}

// blow runs the storm with the transport that dress makes for each client.
func blow(t *testing.T, dress func(server http.RoundTripper) http.RoundTripper) *storm {
	s := &storm{}
	synctest.Test(t, func(t *testing.T) {
		s.began = time.Now()
		server := s.server(t)
		var wg sync.WaitGroup
		for range stormClients {
			client := dress(server)
			wg.Go(func() {
				for {
					time.Sleep(time.Duration(rand.ExpFloat64() / stormRate * float64(time.Second)))
					if time.Since(s.began) >= stormLength {
						return
					}
					wg.Go(func() { s.ask(client) })
				}
			})
		}
		wg.Wait()
	})
	return s
}

func (s *storm) ask(client http.RoundTripper) {
	s.count(&s.offered)
	ctx, cancel := context.WithTimeout(context.Background(), stormPatient)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/", nil)
	if res, err := client.RoundTrip(req); err == nil && res.StatusCode == http.StatusOK {
		s.count(&s.good)
	}
}

// said is a server that says when to come back, as [weirhttp.Limit] does.
func said(server http.RoundTripper) http.RoundTripper { return server }

// unsaid is a server that does not say when to come back.
func unsaid(server http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		res, err := server.RoundTrip(req)
		if err == nil {
			res.Header.Del("Retry-After")
		}
		return res, err
	})
}

// A storm of retries, against a server of 500/s that is asked for 1000/s:
//
//	scripts/all go test -run RetryStorm -v ./weirhttp
func TestRetryStorm(t *testing.T) {
	var (
		unbounded = retry.BudgetConfig{Share: 1, MinPerSecond: 1000}
		off       = retry.ThrottleConfig{K: 100, MaxReject: 1e-9}
		calm      = blow(t, unsaid)
	)
	t.Logf("no retries: %v", calm)
	for _, c := range []struct {
		name     string
		budget   retry.BudgetConfig
		throttle retry.ThrottleConfig
		server   func(http.RoundTripper) http.RoundTripper
		bounded  bool
	}{
		{"budget and throttle", retry.BudgetConfig{}, retry.ThrottleConfig{}, unsaid, true},
		{"budget and throttle, server says when to come back", retry.BudgetConfig{}, retry.ThrottleConfig{}, said, true},
		{"budget", retry.BudgetConfig{}, off, unsaid, true},
		{"throttle", unbounded, retry.ThrottleConfig{}, unsaid, false},
		{"neither", unbounded, off, unsaid, false},
		{"neither, server says when to come back", unbounded, off, said, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.bounded || c.throttle == off {
				longtest.Skip(t)
			}
			s := blow(t, func(server http.RoundTripper) http.RoundTripper {
				return weirhttp.RetryTransport(c.server(server), retries(t, c.budget, c.throttle))
			})
			attempts := float64(s.attempts.Load()) / float64(s.offered.Load())
			goodput := float64(s.good.Load()) / float64(calm.good.Load())
			t.Logf("%v: attempts %.2f of the offered, goodput %.2f of that without retries", s, attempts, goodput)
			if c.bounded && (attempts > 1.15 || goodput < 0.97) {
				t.Errorf("want attempts of at most 1.15 of the offered, and goodput of at least 0.97 of that without retries")
			}
			if c.budget == unbounded && c.throttle == off && attempts < 1.3 {
				t.Error("without bounds there is no storm")
			}
		})
	}
}

// retries returns what one client uses that tries again three times.
func retries(t *testing.T, b retry.BudgetConfig, th retry.ThrottleConfig) *retry.Client {
	budget, err := retry.NewBudget(b)
	if err != nil {
		t.Fatal(err)
	}
	throttle, err := retry.NewThrottle(th)
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, retry.Config{Retries: 3, Budget: budget, Throttle: throttle})
}

// String is in requests a second.
func (s *storm) String() string {
	per := func(n *atomic.Int64) float64 { return float64(n.Load()) / (stormLength - stormWarmUp).Seconds() }
	return fmt.Sprintf("offered %.0f/s, attempts %.0f/s, goodput %.0f/s", per(&s.offered), per(&s.attempts), per(&s.good))
}
