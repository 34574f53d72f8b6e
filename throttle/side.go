package throttle

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/seam"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
)

var limiters = seam.Of[*weir.Limiter, weir.Config, weir.Snapshot]()

// A side throttles one kind of operations. Acquire uses it without a lock, because a lock would
// cost as much as the limiter: so the counters are atomics. The state of the decisions is in the
// pacer, under the lock of the throttle.
type side struct {
	limiter *weir.Limiter // queues, refuses and measures

	extra        atomic.Uint64 // cost admitted beyond 1 for each operation
	throttled    atomic.Uint64 // operations that had to wait
	throttleTime atomic.Int64  // the sum of their waits, in nanoseconds

	// These are guarded by Throttle.mu.
	pacer pacer
	told  uint64 // the largest Cost of a snapshot
}

// measured is the window of latencies for the laws. With a Concurrency the limiter has the window
// of its law instead.
const measured = 2 * time.Second

func (s *side) init(op Op, conf Side, c Config) (err error) {
	field := [ops]string{Read: "Reads", Write: "Writes"}[op]
	if s.pacer, err = newPacer(op, field, conf, c); err != nil {
		return err
	}
	limit := weir.Config{
		Name: c.Name + " " + field,
		Min:  conf.MaxInFlight, Max: conf.MaxInFlight,
		Law:    law.Fixed{},
		Window: measured, Interval: measured,
		Queue: conf.Queue, Classify: c.Classify,
	}
	if s.pacer.laws.bound {
		limit.Min, limit.Law = 1, law.Setpoint{Budget: conf.LatencyTarget}
	}
	if s.limiter, err = weir.New(limit); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrConfig, field, err)
	}
	return nil
}

// acquire waits for the turn of an operation.
func (s *side) acquire(ctx context.Context, cost int) (permit weir.Permit, err error) {
	if cost == 1 {
		permit, err = s.limiter.Acquire(ctx)
	} else {
		permit, err = s.limiter.AcquireN(ctx, cost)
		if err == nil {
			s.extra.Add(uint64(cost - 1))
		}
	}
	if refused, ok := err.(*weir.RefusedError); ok { //nolint:errorlint // The limiter returns it as it is.
		refused.RetryAfter = comeBack(refused.Reason, refused.RetryAfter)
	}
	if waited := permit.Waited(); waited > 0 {
		s.throttled.Add(1)
		s.throttleTime.Add(int64(waited))
	}
	return permit, err
}

// soon is the longest time after which an operation that the pace refused may come back. For times
// up to 0.45 s it is right within a factor of three.
const soon = 150 * time.Millisecond

// comeBack corrects the time after which a refused operation may come back. At a pace, the
// limiter's time lasts until the whole queue has drained. In an emergency, or after one bad
// reading, that is half a minute, although another operation may wait as soon as one waiter leaves.
// Half of the limiter's time leaves no place idle, because a client adds as much jitter again. If
// many clients compete for few starts, the time is too short: of 30 clients at one start a second,
// each is refused four times a second.
func comeBack(reason weir.Reason, after time.Duration) time.Duration {
	if reason == weir.ReasonPace {
		after = min(soon, after/2)
	}
	return min(after, longest)
}

// measure returns the state of the limiter, and the cost admitted up to now, as corrected. It reads
// the corrections first: a correction that reduces cost follows the admission of that cost, so the
// sum is never below 0.
func (s *side) measure() (now weir.Snapshot, cost uint64) {
	corrected := uint64(limiters.Node(s.limiter).Corrected())
	extra := s.extra.Load()
	now = s.limiter.Snapshot()
	return now, now.Admitted + extra + corrected
}

// begin starts without a pace, whatever an earlier Run has left.
func (s *side) begin() {
	_, cost := s.measure()
	s.pacer.begin(cost)
}

// step decides on the pace and sets it.
func (s *side) step(now time.Time, dt time.Duration) {
	snap, cost := s.measure()
	s.set(s.pacer.decide(snap, cost, now, dt))
}

func (s *side) set(p Pace) {
	if p != s.pacer.pace {
		s.pacer.pace = p
		limiters.SetPace(s.limiter, admit.Pace(p))
	}
}

// lift takes the pace away, and ends an emergency.
func (s *side) lift(now time.Time) {
	s.set(Pace{})
	s.pacer.judge(load.Level{}, now)
}

func (s *side) snapshot() SideSnapshot {
	snap, cost := s.measure()
	p := &s.pacer
	state := p.seen
	state.Pace, state.Emergency, state.Emergencies = p.pace, p.emergency.on, p.emergency.count
	if p.laws.bound {
		state.MaxInFlight = snap.Limit
	}
	state.PID = p.laws.terms(state.Degraded)
	s.told = max(s.told, cost)
	state.Rate, state.Cost, state.Limiter = p.flow, s.told, snap
	state.Throttled, state.ThrottleTime = s.throttled.Load(), time.Duration(s.throttleTime.Load())
	return state
}
