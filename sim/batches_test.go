package sim

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// arrivalsOf returns the arrivals of ten seconds.
func arrivalsOf(t *testing.T, change func(*Scenario)) (requests []request) {
	t.Helper()
	s := must.Have(steady(1, change).complete())(t)
	for at := newTraffic(&s, 1); at.next.at != Never; at.advance() {
		requests = append(requests, at.next)
	}
	return requests
}

func TestPeriodicBatches(t *testing.T) {
	requests := arrivalsOf(t, func(s *Scenario) {
		s.Arrivals = Batches{Rate: 20, Size: 25, Periodic: true}
		s.Limiters = 3
		s.Clients = []Client{{Name: "a"}, {Name: "b"}}
		s.Phases = []Phase{{Length: 2 * time.Second}, {Length: 2 * time.Second, Load: 2}}
	})
	if len(requests) != 25*(39+1+79) { // one arrives at the end of the first phase, and one at the very end
		t.Fatalf("%d requests", len(requests))
	}
	limiters, clients := map[int32]bool{}, map[int32]bool{}
	for i, r := range requests {
		batch := time.Duration(i / 25)
		want := (batch + 1) * 50 * ms
		if batch >= 40 {
			want = 2*time.Second + (batch-39)*25*ms
		}
		if r.at != want || r.limiter != requests[i/25*25].limiter || r.client != requests[i/25*25].client {
			t.Fatalf("request %d of batch %d comes at %v to limiter %d, want %v", i%25, batch, r.at, r.limiter, want)
		}
		limiters[r.limiter], clients[r.client] = true, true
	}
	if len(limiters) != 3 || len(clients) != 2 || requests[0].luck == requests[1].luck {
		t.Errorf("limiters %v, clients %v", limiters, clients)
	}
}

func TestBatches(t *testing.T) {
	requests := arrivalsOf(t, func(s *Scenario) { s.Arrivals = Batches{Rate: 100, Size: 8} })
	if n := len(requests); n%8 != 0 || n < 8*900 || n > 8*1100 {
		t.Fatalf("%d requests", n)
	}
	sum, squares := 0.0, 0.0
	for i := 8; i < len(requests); i += 8 {
		gap := (requests[i].at - requests[i-1].at).Seconds()
		sum, squares = sum+gap, squares+gap*gap
		if requests[i+7].at != requests[i].at {
			t.Fatalf("the batch from %v is still coming at %v", requests[i].at, requests[i+7].at)
		}
	}
	n := float64(len(requests)/8 - 1)
	if cv := math.Sqrt(squares/n-sum/n*sum/n) / (sum / n); cv < 0.9 || cv > 1.1 {
		t.Errorf("the distances of batches vary by %.2f, want 1 as in a Poisson process", cv)
	}
}

func TestOnOff(t *testing.T) {
	requests := arrivalsOf(t, func(s *Scenario) { s.Arrivals = OnOff{Rate: 1000, On: 100 * ms, Off: 900 * ms} })
	if n := len(requests); n < 900 || n > 1100 {
		t.Errorf("%d requests", n)
	}
	for _, r := range requests {
		if r.at%time.Second > 100*ms {
			t.Fatalf("a request at %v", r.at)
		}
	}
}
