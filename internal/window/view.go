package window

import (
	"math"
	"time"

	"github.com/weir-go/weir/law"
)

// Window returns the law's view: all measurements since the last restart, or over the look-back.
// The caller fills in the limit and its bounds. Latencies is only valid until the next call of any
// method that writes.
func (m *Meter) Window(now int64, inflight int) law.Window {
	t, from, first := m.current, m.from, m.current.first
	if !m.alone {
		t.add(m.cold.past)
		from, first = m.cold.from, m.cold.past.first
	}
	if !m.begun {
		first = bounded(inflight)
	}
	w := law.Window{
		Elapsed: time.Duration(max(0, m.last-from)),

		Samples:  int(t.samples),
		Failures: int(t.failures),
		Timeouts: int(t.timeouts),
		Refused:  int(t.refused),
		Weight:   int(t.weight),

		Overloaded: int(t.overloaded),
		Late:       int(t.late),
		Abandoned:  int(t.abandoned),

		Carried:       int(t.carried),
		CarriedFailed: int(t.carriedFailed),
		Mean:          round(t.mean()),
		Deviation:     round(t.deviation()),
		EWMA:          m.EWMA(),
		Latencies:     (*eligible)(m),

		InFlight: float64(inflight),
		Peak:     int(max(t.peak, first)),
		First:    int(first),
		Last:     inflight,
		Age:      m.Age(now),

		Waited:    int(t.waits),
		QueueWait: t.wait(),
	}
	t.average(&w)
	return w
}

// average fills in the means over time, and the means over the work if there was work.
func (t *tally) average(w *law.Window) {
	if t.samples > 0 {
		w.Least = time.Duration(t.least)
	}
	if w.Elapsed > 0 {
		w.InFlight = t.area / float64(w.Elapsed)
		w.Saturated = min(1, float64(t.saturated)/float64(w.Elapsed))
	}
	if ended := uint64(t.samples) + uint64(t.carried); ended > 0 {
		w.Sojourn = round(t.sojourns / float64(ended))
	}
	if t.area > 0 {
		w.Crowd = t.crowd / t.area
	}
	if t.saturated > 0 {
		w.Held = law.Held{
			Elapsed:   time.Duration(t.saturated),
			Completed: int(t.held),
			InFlight:  t.heldArea / float64(t.saturated),
		}
	}
}

// seen returns the events of both generations in the law's window.
func (m *Meter) seen() (current, past *events) {
	if m.alone {
		return &m.current.events, &noEvents
	}
	return &m.current.events, &m.cold.past.events
}

var noEvents events

// Samples is the number of latencies in the law's window.
func (m *Meter) Samples() int {
	a, b := m.seen()
	return int(a.samples) + int(b.samples)
}

// Completed counts the successes, failures and timeouts in the law's window.
func (m *Meter) Completed() int {
	a, b := m.seen()
	return int(a.samples) + int(b.samples) + int(a.failures) + int(b.failures) + int(a.timeouts) + int(b.timeouts)
}

// Lost counts the work in the law's window that the downstream refused or whose caller left.
func (m *Meter) Lost() int {
	a, b := m.seen()
	return int(a.overloaded) + int(b.overloaded) + int(a.abandoned) + int(b.abandoned)
}

// Carried counts the work that ended in the window and had started before it: such work is no
// sample of the window.
func (m *Meter) Carried() int {
	a, b := m.seen()
	return int(a.carried) + int(b.carried) + int(a.carriedFailed) + int(b.carriedFailed)
}

// Age is the age of the oldest work in flight, or 0 if there is none. It is never less than the
// true age. The excess is at most 1 ms or half the greatest age reported since that work started,
// whichever is more.
func (m *Meter) Age(now int64) time.Duration { return m.ages.oldest(max(now, m.last)) }

// eligible is a Meter as seen by the law.
type eligible Meter

// Quantile implements [law.Latencies].
func (e *eligible) Quantile(q float64) time.Duration {
	m := (*Meter)(e)
	s := sides{}
	s[m.side] = true
	s[1-m.side] = !m.alone
	return m.quantile(s, m.Samples(), q)
}

// Recent has the measurements of a snapshot: over the whole look-back, across restarts.
type Recent struct {
	Samples, Failures, Timeouts int

	P50, P95, P99, Mean time.Duration
	EWMA                time.Duration // of all latencies ever
	QueueWait           time.Duration // mean, of the work that waited

	ErrorRate, TimeoutRate float64 // shares of the completed work, 0 to 1
}

func summed(t *tally, quantile func(float64) time.Duration, average time.Duration) Recent {
	r := Recent{
		Samples:   int(t.samples),
		Failures:  int(t.failures),
		Timeouts:  int(t.timeouts),
		P50:       quantile(0.50),
		P95:       quantile(0.95),
		P99:       quantile(0.99),
		Mean:      round(t.mean()),
		EWMA:      average,
		QueueWait: t.wait(),
	}
	completed := float64(max(1, r.Samples+r.Failures+r.Timeouts))
	r.ErrorRate = float64(r.Failures+r.Timeouts) / completed
	r.TimeoutRate = float64(r.Timeouts) / completed
	return r
}

// Quantile returns the latency that the share q of the successes within the look-back did not
// exceed, to within 4%, or 0 if there were none. The look-back ends at the last time that the meter
// has seen.
func (m *Meter) Quantile(q float64) time.Duration {
	t, s := m.recent(m.last)
	return m.quantile(s, int(t.samples), q)
}

// recent adds up the generations that are not too old. A generation may be too old, because without
// traffic no call has rotated the generations, and a read does not rotate them.
func (m *Meter) recent(now int64) (t tally, s sides) {
	now = max(now, m.last)
	if now < m.from+m.cold.lookback {
		t, s[m.side] = m.current, true
	}
	if now < m.cold.from+m.cold.lookback {
		t.add(m.cold.past)
		s[1-m.side] = true
	}
	return t, s
}

// quantile returns the nearest-rank quantile of the given number of latencies.
func (m *Meter) quantile(s sides, samples int, q float64) time.Duration {
	return m.latencies.ranked(s, rank(q, uint64(samples)))
}

// rank is the nearest rank of a quantile among the samples, counted from 1.
func rank(q float64, samples uint64) uint64 {
	rank := math.Ceil(q * float64(samples))
	if !(rank > 1) { // also if q is NaN
		rank = 1
	}
	return uint64(min(rank, float64(samples)))
}

// EWMA is the moving average of all latencies ever.
func (m *Meter) EWMA() time.Duration { return round(max(0, float64(m.average))) }

// Latest returns the moving average if a latency was measured within the look-back, and otherwise
// 0.
func (m *Meter) Latest() time.Duration {
	if m.current.samples > 0 || m.last < m.cold.from+m.cold.lookback && m.cold.past.samples > 0 {
		return m.EWMA()
	}
	return 0
}

func (t *tally) wait() time.Duration { return round(t.waited / float64(max(1, t.waits))) }

// round rounds a duration that is not negative.
func round(nanoseconds float64) time.Duration { return time.Duration(nanoseconds + 0.5) }
