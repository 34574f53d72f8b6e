package storm

import (
	"math"
	"slices"
	"time"

	"github.com/weir-go/weir/internal/storm"
)

// A ledger has the operations of a crowd, client by client.
type ledger struct {
	entries [][]storm.Entry
}

// count is how many operations ended well, and how many were refused.
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

// database returns how long the operations took once started, withWait including the wait.
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

// quantile returns the smallest latency that a share q of all do not exceed, in ms.
func (l latencies) quantile(q float64) float64 {
	if len(l) == 0 {
		return math.NaN()
	}
	return l[max(int(math.Ceil(q*float64(len(l))))-1, 0)].Seconds() * 1000
}
