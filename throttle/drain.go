package throttle

import (
	"cmp"
	"math"
	"time"

	"github.com/weir-go/weir/load"
)

// DrainRate paces writes at the store's real digestion rate, corrected by how far its
// backlog is from the target: see the package documentation. It suits a store that
// says "written" before the work is done, such as an LSM tree, and needs a source
// that reports a [load.Drain]: without a [load.Drainer] in the Monitor, New returns an error.
//
// It fails where the backlog grows for other reasons than the work that is paced, and
// where a store has no backlog that shows before it stalls.
type DrainRate struct {
	// MaxDelay is the slowest pace: the time between two operations of cost 1. Defaults to 1 s.
	MaxDelay time.Duration
}

const (
	// gain is the share by which an empty backlog raises the rate, and a backlog of twice the
	// target lowers it, on average. With 0.8 storms differed by no more than their noise.
	gain = 1.6
	// healthy is the share of the target below which the pace doubles each second until there is
	// none. With 0.5, storms that could not stall a store lost a sixth of their writes. With 0.75
	// they lose none (TestBadgerAtEase).
	healthy = 0.75
	// smoothing is the time over which the drain is averaged, unless the time between two
	// digestions is longer.
	smoothing = time.Second
	// priceSmoothing is the time over which the ratio of cost to arrivals is averaged. The ratio
	// belongs to the kind of work and changes slowly, but arrivals come a table at a time.
	priceSmoothing = 30 * time.Second
	// The mean of the backlog is over backlogPeriods of the times between two digestions, and over
	// longestMean at most. Without longestMean a store whose first digestion took seconds got a
	// third of its digestion rate, for seconds.
	backlogPeriods = 2
	longestMean    = time.Second
	// unknownDrain is the time in which a store is assumed to digest the room above its target,
	// until a digestion shows its real rate.
	unknownDrain = time.Second
	// unseenFades is the time constant with which an error in the unseen amount fades. With 5 s the
	// errors added up to three tables of Badger, a fifth of its level 0.
	unseenFades = time.Second
	// brakes is the share of the room between target and limit in which the pace is braked. From
	// 0.3 to 1 nothing that storms measure differs by more than their noise.
	brakes = 0.3
	// The pace of a healthy store doubles in each doublesIn, and ends after that many doublings. If
	// it ended at once, hundreds of callers would fill the store to its limit before the next
	// decision.
	doublesIn = time.Second
	doublings = 6
	// leastFactor is the least share of the drain rate, for any backlog. It leaves some work for a
	// store that still digests. With 0.1 Badger still stalled in one of two storms.
	leastFactor = 0.02
	// mostTargets is the largest value of a backlog, in targets. From 1.6 targets on the rate is at
	// leastFactor anyway, and a larger mean would only need longer to fall again.
	mostTargets = 10
)

func (d DrainRate) start(field string) (controller, error) {
	slowest := 1 / cmp.Or(d.MaxDelay, time.Second).Seconds()
	return &drainLaw{slowest: slowest}, notNegative(field+".MaxDelay", d.MaxDelay)
}

// drainLaw is a DrainRate at work.
type drainLaw struct {
	slowest    float64 // cost per second
	last       load.Drain
	seen       bool
	cost       float64 // admitted since the last call of book
	paid       faded   // cost, per unit that arrived
	unseen     float64 // admitted and not yet in the backlog, in its units
	backlog    float64 // on average
	drained    faded   // digestion of the store, per second in which it was busy
	digestions float64 // number of digestions in the sums of drained, faded as they are
	since      time.Duration
	healthyFor time.Duration
}

func (l *drainLaw) next(s signals) float64 {
	l.cost += s.cost
	if s.drain == nil {
		l.seen = false // the time in between is unknown
		return 0
	}
	d := *s.drain
	l.book(d, s.dt)
	eased := max(l.healthyFor-l.patience(), 0)
	if l.paid.per <= 0 || l.paid.sum <= 0 || eased >= doublings*doublesIn {
		return 0
	}
	drain := l.drain(d)
	rate := drain * l.steer(d) * math.Exp2(eased.Seconds()/doublesIn.Seconds())
	rate = max(min(rate, drain*l.brake(d)), drain*leastFactor)
	return max(rate*l.paid.sum/l.paid.per, l.slowest)
}

// steer is the share of the drain rate that brings the mean of the backlog to its target.
func (l *drainLaw) steer(d load.Drain) float64 { return 1 + gain*(d.Target-l.backlog)/d.Target }

// brake is the share of the drain rate with which the backlog comes ever closer to its limit and
// never reaches it, even with the amount that is admitted and not yet in the backlog.
func (l *drainLaw) brake(d load.Drain) float64 {
	if d.Limit <= d.Target {
		return math.Inf(1)
	}
	return (d.Limit - d.Backlog - l.unseen) / (brakes * (d.Limit - d.Target))
}

// drain returns the store's digestion per second. Before the first digestion it is an assumption.
func (l *drainLaw) drain(d load.Drain) float64 {
	if l.drained.sum > 0 && l.drained.per > 0 {
		return l.drained.sum / l.drained.per
	}
	return max(d.Limit-d.Target, d.Target/2) / unknownDrain.Seconds()
}

// period is the time between two digestions, 0 if it is not known.
func (l *drainLaw) period() time.Duration {
	if l.digestions <= 0 {
		return 0
	}
	return time.Duration(l.drained.per / l.digestions * float64(time.Second))
}

// patience is the time for which a backlog below the healthy share counts as a tooth of the saw.
func (l *drainLaw) patience() time.Duration { return max(doublesIn, l.period()) }

// resume forgets the last drain, because nothing is known about the time since then.
func (l *drainLaw) resume(float64, float64) { l.seen = false }

// book adds the amounts since the last decision.
func (l *drainLaw) book(d load.Drain, dt time.Duration) {
	d.Backlog = min(d.Backlog, mostTargets*d.Target)
	if drained := d.Drained - l.last.Drained; l.seen && drained >= 0 {
		l.arrive(drained+d.Backlog-l.last.Backlog, dt)
		l.digest(drained, dt)
	} else {
		l.backlog, l.unseen, l.since = d.Backlog, 0, 0
	}
	l.backlog += (d.Backlog - l.backlog) * share(dt, min(backlogPeriods*l.period(), longestMean))
	if l.healthyFor += dt; d.Backlog+l.unseen >= healthy*d.Target {
		l.healthyFor = 0
	}
	l.last, l.seen, l.cost = d, true, 0
}

// arrive adds the admitted and the arrived amount.
func (l *drainLaw) arrive(arrived float64, dt time.Duration) {
	l.paid.add(l.cost, arrived, share(dt, priceSmoothing))
	if l.paid.sum > 0 && l.paid.per > 0 {
		l.unseen += l.cost * l.paid.per / l.paid.sum
	}
	l.unseen = max(l.unseen-max(arrived, 0), 0) * (1 - share(dt, unseenFades))
}

// digest adds the store's digestion. The rate of digestion shows only while the store has a backlog
// to digest, and only at the end of a digestion: between two digestions an average over time would
// fall.
func (l *drainLaw) digest(drained float64, dt time.Duration) {
	if l.healthyFor >= l.patience() {
		l.since = 0
		return
	}
	if l.since += dt; drained > 0 {
		part := share(l.since, max(smoothing, l.period()))
		l.drained.add(drained, l.since.Seconds(), part)
		l.digestions += 1 - l.digestions*part
		l.since = 0
	}
}

// faded is a ratio of sums in which the past fades. Unlike an average of ratios it is unbiased from
// the first sample on, and a sample may be 0 per 0.
type faded struct{ sum, per float64 }

func (f *faded) add(sum, per, share float64) {
	f.sum += sum - f.sum*share
	f.per += per - f.per*share
}
