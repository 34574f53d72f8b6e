package feed_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/feed"
)

type event struct {
	n    int
	lost uint64
}

func reader(size int) *feed.Reader[event] {
	return feed.New(size, func(e *event) *uint64 { return &e.lost })
}

func TestReaderKeepsTheNewest(t *testing.T) {
	for _, size := range []int{-1, 0, 1, 3} {
		r := reader(size)
		for n := range 10 {
			r.Tell(event{n: n})
		}
		r.Close()
		r.Close()
		r.Tell(event{n: 99})
		var got []event
		lost := uint64(0)
		for e := range r.Events() {
			got = append(got, e)
			lost += e.lost
		}
		if want := max(size, 1); len(got) != want || got[want-1].n != 9 || lost != uint64(10-want) {
			t.Errorf("size %d: %v", size, got)
		}
	}
}

// TestReaderLosesNothingUncounted: whatever a reader that pauses at random does.
func TestReaderLosesNothingUncounted(t *testing.T) {
	const writers, each = 8, 2000
	r := reader(4)
	var read uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		random := rand.New(rand.NewPCG(1, 2))
		for e := range r.Events() {
			read += 1 + e.lost
			for range random.IntN(100) {
				_ = random.Uint64()
			}
		}
	}()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for n := range each {
				r.Tell(event{n: n})
			}
		})
	}
	all.Wait()
	r.Close()
	<-done
	if read != writers*each {
		t.Errorf("%d read or lost of %d", read, writers*each)
	}
}
