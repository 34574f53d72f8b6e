package throttle

import (
	"time"

	"github.com/weir-go/weir/load"
)

// symptoms estimates the load of a system from its operations alone, for a side without a monitor
// or with missing signals. It compares latency with a baseline, the latency of the system without
// overload, which sinks to a lower latency within seconds and rises to a higher one within minutes:
//
//	baseline += (latency - baseline) (1 - exp(-dt/tau)),  tau = 2 s down, 5 min up
//
// The load is 1 at a latency of 8 baselines, or of 5 ms if that is more, because the scheduler's
// own noise lies below 5 ms. It is also 1 if the oldest operation is as old as 5 such latencies,
// because in a stall no operation completes and latencies look fine. The concurrency says nothing:
// clients also keep all slots in use without overload. If the first latencies seen are from a
// storm, they are the baseline until latency falls.
//
// The zero value is ready.
type symptoms struct{ baseline float64 } // in seconds

const (
	sinking = 2 * time.Second
	rising  = 5 * time.Minute

	latencyBaselines = 8
	leastLatency     = 5 * time.Millisecond
	oldestLatencies  = 5
)

// update returns the worst symptom, by the age of the oldest operation in flight and the recent
// mean latency. The latency is 0 if no operation completed. The symptom is not valid until the
// first operation has completed.
func (s *symptoms) update(oldest, latency, dt time.Duration) load.Reading {
	s.learn(latency.Seconds(), dt)
	if s.baseline == 0 {
		return load.Reading{Name: "latency", Unit: load.Seconds, Limit: leastLatency.Seconds(), Err: load.ErrStale}
	}
	most := max(latencyBaselines*s.baseline, leastLatency.Seconds())
	worst := load.Reading{Name: "latency", Value: max(latency, 0).Seconds(), Unit: load.Seconds, Limit: most}
	stall := load.Reading{Name: "oldest operation", Value: max(oldest, 0).Seconds(), Unit: load.Seconds, Limit: oldestLatencies * most}
	if stall.Load() > worst.Load() {
		return stall
	}
	return worst
}

func (s *symptoms) learn(latency float64, dt time.Duration) {
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
	s.baseline += (latency - s.baseline) * share(dt, tau)
}
