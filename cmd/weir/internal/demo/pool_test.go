package demo

import (
	"math"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestServerDoesItsCapacityAndNoMore checks the first two phases.
func TestServerDoesItsCapacityAndNoMore(t *testing.T) {
	for phase, want := range []float64{100, 30} { // per second
		synctest.Test(t, func(t *testing.T) {
			const length = course(time.Hour)
			h := newPool(time.Now().Add(-time.Duration(phase)*length.third()), workers, false).serve(length.fate)
			start := time.Now()
			var all sync.WaitGroup
			const requests = 1000
			for range requests {
				all.Go(func() { h(httptest.NewRecorder(), nil) })
			}
			all.Wait()
			if got := requests / time.Since(start).Seconds(); math.Abs(got/want-1) > 0.02 {
				t.Errorf("in phase %d: %.1f per second, want %.0f", phase, got, want)
			}
		})
	}
}

func TestServerServesInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPool(time.Now(), 1, false).serve(course(time.Hour).fate)
		var mu sync.Mutex
		var served []int
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				h(httptest.NewRecorder(), nil)
				mu.Lock()
				served = append(served, i)
				mu.Unlock()
			})
			synctest.Wait()
		}
		all.Wait()
		if !slices.IsSorted(served) {
			t.Errorf("served %v", served)
		}
	})
}
