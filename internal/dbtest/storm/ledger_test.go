package storm

import (
	"math"
	"slices"
	"time"

	"github.com/weir-go/weir/internal/storm"
)

// A ledger holds the operations of a crowd, client by client.
type ledger struct {
	entries [][]storm.Entry
}

// count returns the number of operations that succeeded, and of refused ones.
func (l *ledger) count() (done, refused int) {
	for _, client := range l.entries {
		for _, e := range client {
			if e.Refused {
				refused++
			} else {
				done++
			}
		}
	}
	return done, refused
}

// database returns the latencies from the start of the operations, withWait including the
// wait.
func (l *ledger) database() latencies {
	return l.latencies(storm.Entry.Database)
}

func (l *ledger) withWait() latencies {
	return l.latencies(storm.Entry.WithWait)
}

func (l *ledger) latencies(of func(storm.Entry) time.Duration) (all latencies) {
	for _, client := range l.entries {
		for _, e := range client {
			if !e.Refused {
				all = append(all, of(e))
			}
		}
	}
	slices.Sort(all)
	return all
}

// latencies are sorted.
type latencies []time.Duration

// quantile returns the q-quantile of the latencies, in ms.
func (l latencies) quantile(q float64) float64 {
	if len(l) == 0 {
		return math.NaN()
	}
	return l[max(int(math.Ceil(q*float64(len(l))))-1, 0)].Seconds() * 1000
}
