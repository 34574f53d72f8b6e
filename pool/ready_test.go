package pool

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReadyKeepsItsOrder adds and takes at random, mostly in order, and compares the output
// against a sorted slice.
func TestReadyKeepsItsOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var r ready
	var want []*item
	for i := range 20_000 {
		if len(want) == 0 || random.IntN(100) < 50 {
			it := &item{seq: uint64(i), score: int64(i)}
			if random.IntN(4) == 0 {
				it.score -= random.Int64N(100)
			}
			r.add(it)
			at, _ := slices.BinarySearchFunc(want, it, func(a, b *item) int {
				if a.before(b) {
					return -1
				}
				return 1
			})
			want = slices.Insert(want, at, it)
			continue
		}
		if first, took := r.first(), r.take(); first != want[0] || took != want[0] {
			t.Fatalf("step %d: first %+v and took %+v, want %+v", i, first, took, want[0])
		}
		want = want[1:]
		if r.len() != len(want) || len(r.all()) != len(want) {
			t.Fatalf("step %d: %d left and %d in all, want %d", i, r.len(), len(r.all()), len(want))
		}
	}
}
