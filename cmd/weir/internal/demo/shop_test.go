package demo

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
)

// The demonstration's claim holds for the servers themselves, without sockets and clocks: in
// bursts the bulkhead keeps checkout unaffected, and search loses nothing by it.
func TestBulkheadKeepsCheckoutServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := must.Have(bulkhead.New(compartments))(t)
		with, without := served(t, set), served(t, nil)
		t.Logf("good with %.3v, without %.3v", with, without)
		if with[1] < 0.99 {
			t.Errorf("%.3f of checkout were good, want 0.99", with[1])
		}
		if without[1] > 0.7 {
			t.Errorf("without a bulkhead %.3f of checkout were good: there is nothing to see", without[1])
		}
		if with[0] < without[0] {
			t.Errorf("search: %.3f were good, but %.3f without the bulkhead", with[0], without[0])
		}
	})
}

// served runs clients for four cycles and returns the number of good requests of each route.
func served(t *testing.T, set *bulkhead.Set) (good [len(routes)]float64) {
	start := time.Now()
	_, h := shop(start, set)
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, r := range routes {
		requests := arrivals(uint64(i), r.rate, 4*burstEvery)
		for _, at := range requests {
			all.Go(func() {
				time.Sleep(time.Until(start.Add(at)))
				ctx, giveUp := context.WithTimeout(t.Context(), patience)
				defer giveUp()
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, r.path(), nil))
				if w.Code == http.StatusNoContent && time.Since(start)-at <= r.deadline {
					mu.Lock()
					good[i] += 1 / float64(len(requests))
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	return good
}

func TestSearchHangsInBurstsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := shop(time.Now(), nil)
		for burst := range 2 {
			failed := 0
			for range 1000 {
				if _, fails := p.draw(search.fate); fails {
					failed++
				}
				if _, fails := p.draw(checkout.fate); fails {
					t.Fatal("checkout fails")
				}
			}
			if want := float64(burst) * 1000 * burstShare; float64(failed) < 0.95*want || float64(failed) > 1.05*want {
				t.Errorf("in burst %d: %d of 1000 searches fail", burst, failed)
			}
			time.Sleep(burstEvery / 2)
		}
	})
}
