package load

import (
	"math"
	"time"
)

// Operations are a process's measurements of its own operations.
type Operations struct {
	Oldest  time.Duration // age of the oldest operation in flight
	Latency time.Duration // recent mean latency, 0 if nothing completed
}

// Symptoms estimates the load of a system from [Operations] alone, for when nothing better
// answers. It compares latency with a baseline, the latency at which the system was at ease, which
// sinks to a lower latency within seconds and rises to a higher one within minutes:
//
//	baseline += (latency - baseline) (1 - exp(-dt/tau)),  tau = 2 s down, 5 min up
//
// The load is 1 where the latency is 8 baselines and at least 5 ms, below which the scheduler's own
// noise lies; and where the oldest operation is as old as 5 of that, for in a stall nothing
// completes and latencies look fine. The concurrency says nothing: clients keep all slots in use
// of a system that is at ease, too. If the first latencies seen are from a storm, they count as
// ease until latency falls.
//
// The zero Symptoms is ready. It is not safe for concurrent use.
type Symptoms struct{ baseline float64 }

const (
	sinking = 2 * time.Second
	rising  = 5 * time.Minute

	latencyBaselines = 8
	leastLatency     = 5 * time.Millisecond
	oldestLatencies  = 5
)

// Update takes the operations of the last dt and returns the worst symptom. It
// is not valid until the first operation has completed.
func (s *Symptoms) Update(w Operations, dt time.Duration) Reading {
	s.learn(w.Latency.Seconds(), dt)
	if s.baseline == 0 {
		return Reading{Name: "latency", Unit: Seconds, Limit: leastLatency.Seconds(), Err: ErrStale}
	}
	most := max(latencyBaselines*s.baseline, leastLatency.Seconds())
	worst := Reading{Name: "latency", Value: max(w.Latency, 0).Seconds(), Unit: Seconds, Limit: most}
	oldest := Reading{Name: "oldest operation", Value: max(w.Oldest, 0).Seconds(), Unit: Seconds, Limit: oldestLatencies * most}
	if oldest.Load() > worst.Load() {
		return oldest
	}
	return worst
}

func (s *Symptoms) learn(latency float64, dt time.Duration) {
	switch {
	case latency <= 0 || dt <= 0:
		return
	case s.baseline == 0:
		s.baseline = latency
		return
	}
	tau := rising
	if latency < s.baseline {
		tau = sinking
	}
	s.baseline += (latency - s.baseline) * -math.Expm1(-dt.Seconds()/tau.Seconds())
}

// Baseline returns the latency at which the system is taken to be at ease, 0 if none was seen.
func (s *Symptoms) Baseline() time.Duration {
	if ns := s.baseline * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}
