package limittest

import (
	"sync"
	"testing"

	"github.com/weir-go/weir"
)

// A Journal records events. The zero Journal works; Events may be read when no more come.
type Journal struct {
	mu     sync.Mutex
	Events []weir.Event
}

// Note records an event. It is a [weir.Config].OnEvent.
func (j *Journal) Note(e weir.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Events = append(j.Events, e)
}

// Of returns the events of a kind.
func (j *Journal) Of(kind weir.Kind) (found []weir.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.Events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// Gapless fails the test unless the numbers of the events run from 1 to their count.
func (j *Journal) Gapless(t testing.TB) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	seen := map[uint64]int{}
	for _, e := range j.Events {
		seen[e.Seq]++
	}
	for i := range j.Events {
		if n := seen[uint64(i)+1]; n != 1 {
			t.Fatalf("%d events have the number %d of %d: want one", n, i+1, len(j.Events))
		}
	}
}
