package queue

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/reply"
)

// A queue that is asked before each newcomer joins serves and evicts as one that is not, and its
// answers are the same as Join gives.
func TestRefuseAnswersAsJoinDoes(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 4))
		order, size := Order(rng.IntN(2)), int32(rng.IntN(6))
		measured := fixed{latency: []time.Duration{0, 10 * time.Millisecond, time.Second}[rng.IntN(3)], rate: float64(rng.IntN(20))}
		asked, plain := newBench(order, 2, size, measured), newBench(order, 2, size, measured)
		if rng.IntN(2) == 0 {
			asked.SetTenants(3)
			plain.SetTenants(3)
		}
		twins := map[*Waiter]*Waiter{nil: nil}
		equal := func(what string, got, want *Waiter) {
			t.Helper()
			if twins[got] != want {
				t.Fatalf("seed %d: %s differs after a question", seed, what)
			}
		}
		evictions := func(got, want Chain) {
			t.Helper()
			pairs := map[*Waiter]bool{}
			for w := range got.All() {
				pairs[twins[w]] = true
			}
			for w := range want.All() {
				if !pairs[w] {
					t.Fatalf("seed %d: an eviction differs after a question", seed)
				}
				delete(pairs, w)
			}
			if len(pairs) > 0 {
				t.Fatalf("seed %d: a question evicts", seed)
			}
		}
		for range 60 {
			asked.view.Now += int64([]time.Duration{0, 0, time.Millisecond, 20 * time.Millisecond, time.Second}[rng.IntN(5)])
			plain.view.Now = asked.view.Now
			if rng.IntN(3) == 0 {
				got, out := asked.Next(asked.view)
				want, gone := plain.Next(plain.view)
				evictions(out, gone)
				equal("the next waiter", got, want)
				if got != nil {
					asked.Take(got)
					plain.Take(want)
				}
				continue
			}
			w := Waiter{Weight: 1, Lane: rng.IntN(3), Tenant: uint16(7 + rng.IntN(4))}
			if left := []time.Duration{0, time.Microsecond, 5 * time.Millisecond, 50 * time.Millisecond, time.Hour}[rng.IntN(5)]; left > 0 {
				w.Deadline = asked.view.Now + int64(left)
			}
			w.Arrive(asked.view.Now)
			question, got, want := w, w, w
			foreseen, out := asked.Refuse(&question, int64(time.Minute), asked.view)
			verdict, gone := plain.Join(&want, int64(time.Minute), plain.view)
			if foreseen != verdict {
				t.Fatalf("seed %d: asked, %v; joined, %v", seed, foreseen, verdict)
			}
			if verdict == reply.Waiting {
				twins[&got] = &want
				_, more := asked.Join(&got, int64(time.Minute), asked.view)
				out.Append(more)
			}
			evictions(out, gone)
		}
		if asked.Len() != plain.Len() {
			t.Fatalf("seed %d: %d wait, %d without questions", seed, asked.Len(), plain.Len())
		}
	}
}
