package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// A model records all events, to compare a Meter with them.
type model struct {
	meter    *Meter
	lookback int64
	restless int // out of 5
	now      int64
	fence    int64 // the last restart, with settling
	restarts []int64
	running  []int64
	spans    []flow
	work     []ended
	waits    []event // how long
	refusals []event
}

type (
	flow struct {
		from, to  int64
		inflight  int
		saturated bool
	}
	ended struct {
		start, end int64
		outcome    Outcome
		held       bool
	}
	event struct{ at, value int64 }
)

func newModel(lookback int64) *model {
	return &model{meter: New(0, time.Duration(lookback)), lookback: lookback, fence: math.MinInt64}
}

func (m *model) flow(d int64, saturated bool) {
	m.spans = append(m.spans, flow{m.now, m.now + d, len(m.running), saturated})
	m.now += d
	m.meter.Flow(m.now, len(m.running), saturated)
}

func (m *model) start() {
	m.running = append(m.running, m.now)
	m.meter.Start(m.now, len(m.running))
}

func (m *model) done(i int, o Outcome) {
	start := m.running[i]
	m.running = slices.Delete(m.running, i, i+1)
	m.work = append(m.work, ended{start, m.now, o, m.spans[len(m.spans)-1].saturated})
	m.meter.Done(start, m.now, weightOf(start), o)
}

func (m *model) restart(settle int64) {
	m.fence = m.now + settle
	m.restarts = append(m.restarts, m.now)
	m.meter.Restart(m.now, time.Duration(settle))
}

// step does something at random.
func (m *model) step(r *rand.Rand) {
	d := int64(r.ExpFloat64() * 20e6)
	if r.IntN(500) == 0 {
		d = r.Int64N(3 * m.lookback)
	}
	m.flow(d, r.IntN(3) == 0)
	switch n := r.IntN(100); {
	case n < 45 && len(m.running) < 20:
		m.start()
	case n < 92 && len(m.running) > 0:
		m.done(r.IntN(len(m.running)), []Outcome{Success, Failure, Timeout, Ignore, Abandoned, Overloaded}[r.IntN(10)/7*r.IntN(6)])
	case n < 95:
		m.waits = append(m.waits, event{m.now, r.Int64N(second)})
		m.meter.Waited(m.waits[len(m.waits)-1].value)
	case n < 98:
		m.refusals = append(m.refusals, event{m.now, 0})
		m.meter.Refused()
	case r.IntN(5) < m.restless:
		m.restart(r.Int64N(4) * r.Int64N(m.lookback) / 7)
	}
}

// count counts the work that ended after one time, up to now, and began no earlier than
// another.
func (m *model) count(o Outcome, after, began int64) (n int) {
	for _, w := range m.work {
		if w.outcome == o && w.end >= after && w.start >= began {
			n++
		}
	}
	return n
}

// check compares the law's window with the events since it began.
func (m *model) check(t *testing.T) {
	t.Helper()
	w := m.meter.Window(m.now, len(m.running))
	from := m.now - int64(w.Elapsed)
	if from < m.fence && w.Elapsed > 0 {
		t.Fatalf("measured since %d, before the restart at %d", from, m.fence)
	}
	if int64(w.Elapsed) > m.lookback {
		t.Fatalf("looked back %v", w.Elapsed)
	}
	for o, got := range map[Outcome]int{Success: w.Samples, Failure: w.Failures, Timeout: w.Timeouts, Overloaded: w.Overloaded} {
		// A generation begins within an instant, so either end of it will do.
		least, most := m.count(o, from+1, m.fence), m.count(o, from, m.fence)
		if got < least || got > most {
			t.Fatalf("%d of outcome %d, want %d to %d", got, o, least, most)
		}
	}
	if least, most := m.count(Abandoned, from+1, math.MinInt64), m.count(Abandoned, from, math.MinInt64); w.Abandoned < least || w.Abandoned > most {
		t.Fatalf("%d abandoned, want %d to %d", w.Abandoned, least, most)
	}
	if c := m.meter; c.Completed() != w.Samples+w.Failures+w.Timeouts || c.Carried() != w.Carried+w.CarriedFailed || c.Lost() != w.Overloaded+w.Abandoned {
		t.Fatalf("%d completed, %d carried and %d lost: the window has %+v", c.Completed(), c.Carried(), c.Lost(), w)
	}
	m.checkFlow(t, w, from)
	m.checkEvents(t, w, from)
	m.checkLatencies(t, w)
	m.checkRecent(t)
}

// checkFlow compares the window's concurrency, and its work by its end, with the events since it
// began.
func (m *model) checkFlow(t *testing.T, w law.Window, from int64) {
	t.Helper()
	if w.Last != len(m.running) {
		t.Fatalf("last %d, want %d", w.Last, len(m.running))
	}
	if w.Elapsed == 0 {
		return
	}
	area, crowd, held, heldArea, peak := 0.0, 0.0, 0.0, 0.0, 0
	for _, s := range m.spans {
		d, n := float64(s.to-max(s.from, from)), float64(s.inflight)
		if d <= 0 {
			continue
		}
		peak = max(peak, s.inflight)
		area += d * n
		crowd += d * n * n
		if s.saturated {
			held += d
			heldArea += d * n
		}
	}
	elapsed := float64(w.Elapsed)
	near(t, "in flight", w.InFlight, area/elapsed, 1e-5)
	near(t, "saturated", w.Saturated, held/elapsed, 1e-5)
	near(t, "held time", float64(w.Held.Elapsed), held, 1e-5)
	if area > 0 {
		near(t, "crowd", w.Crowd, crowd/area, 1e-5)
	}
	if held > 0 {
		near(t, "held in flight", w.Held.InFlight, heldArea/held, 1e-5)
	}
	if w.Peak < peak || w.Peak > peak+1 && m.now > from {
		// Work that started at the very beginning or end shows in no span.
		t.Fatalf("peak %d, want %d", w.Peak, peak)
	}
	m.checkEnded(t, w, from)
}

func (m *model) checkEvents(t *testing.T, w law.Window, from int64) {
	t.Helper()
	if m.now < m.fence {
		from = m.fence
	}
	count := func(events []event, from int64) (n int, sum float64) {
		for _, e := range events {
			if e.at >= from {
				n++
				sum += float64(e.value)
			}
		}
		return n, sum
	}
	if least, _ := count(m.refusals, from+1); w.Refused < least {
		t.Fatalf("%d refused, want %d", w.Refused, least)
	}
	if most, _ := count(m.refusals, from); w.Refused > most {
		t.Fatalf("%d refused, want %d", w.Refused, most)
	}
	if n, sum := count(m.waits, from+1); n == w.Waited && n > 0 {
		near(t, "wait", float64(w.QueueWait), sum/float64(n), 1e-6)
	} else if most, _ := count(m.waits, from); w.Waited < n || w.Waited > most {
		t.Fatalf("%d waited, want %d to %d", w.Waited, n, most)
	}
}

// checkLatencies takes the latest samples as those of the window: their number has been
// checked.
func (m *model) checkLatencies(t *testing.T, w law.Window) {
	t.Helper()
	var latencies []time.Duration
	for _, e := range slices.Backward(m.work) {
		if len(latencies) == w.Samples {
			break
		}
		if e.outcome == Success && e.start >= m.fence {
			latencies = append(latencies, time.Duration(e.end-e.start))
		}
	}
	checkQuantiles(t, w, latencies)
	mean, deviation := moments(latencies)
	near(t, "mean", float64(w.Mean), mean, 1e-6)
	near(t, "deviation", float64(w.Deviation), deviation, 1e-5)
	if len(latencies) > 0 {
		near(t, "least", float64(w.Least), float64(slices.Min(latencies)), 1e-6)
	} else if w.Least != 0 {
		t.Fatalf("least %v of none", w.Least)
	}
}

func (m *model) checkRecent(t *testing.T) {
	t.Helper()
	r := m.meter.Recent(m.now)
	m.checkSketch(t, r.Samples)
	for o, got := range []int{r.Samples, r.Failures, r.Timeouts} {
		seen := []int{m.meter.Samples(), 0, 0}[o]
		if most := m.count(Outcome(o), m.now-m.lookback, math.MinInt64); got < seen || got > most {
			t.Fatalf("a snapshot sees %d of outcome %d, want %d to %d", got, o, seen, most)
		}
		if least := m.atLeast(Outcome(o)); got < least {
			t.Fatalf("a snapshot sees %d of outcome %d, want a quarter of the look-back, %d", got, o, least)
		}
	}
}

// checkSketch counts the latencies of a snapshot, from which it has its quantiles.
func (m *model) checkSketch(t *testing.T, samples int) {
	t.Helper()
	var total Total
	raw := NewRaw()
	m.meter.CopyRecent(raw, m.now)
	total.Add(raw)
	n := uint64(0)
	for _, octave := range total.counts {
		for _, cell := range octave {
			n += cell
		}
	}
	if n != uint64(samples) {
		t.Fatalf("a snapshot has %d latencies of %d samples", n, samples)
	}
}

// atLeast counts the work in the last quarter of the look-back, unless a restart settled or two
// were close. It leaves out work that began before a restart and ended after.
func (m *model) atLeast(o Outcome) (n int) {
	restarted := int64(math.MinInt64)
	if last := len(m.restarts) - 1; last >= 0 {
		restarted = m.restarts[last]
		if m.fence > restarted || last > 0 && m.restarts[last-1] > m.now-2*m.lookback {
			return 0
		}
	}
	for _, w := range m.work {
		if w.outcome == o && w.end > m.now-m.lookback/4 && (w.start >= m.fence || w.end < restarted) {
			n++
		}
	}
	return n
}

func moments(latencies []time.Duration) (mean, deviation float64) {
	if len(latencies) == 0 {
		return 0, 0
	}
	for _, v := range latencies {
		mean += float64(v) / float64(len(latencies))
	}
	for _, v := range latencies {
		deviation += (float64(v) - mean) * (float64(v) - mean) / float64(len(latencies))
	}
	return mean, math.Sqrt(deviation)
}

// near allows for a relative tolerance and for rounding to whole nanoseconds.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	slack := tolerance * max(1, math.Abs(want))
	if want > 1000 {
		slack++
	}
	if math.Abs(got-want) > slack {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// TestMeterAgainstModel runs random traffic with pauses and restarts.
func TestMeterAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 10))
			m := newModel(second * int64(1+seed%3))
			m.restless = int(1 + seed%2*4)
			for range 2000 {
				m.step(r)
				m.check(t)
			}
		})
	}
}

// weightOf is the weight of the model's work with the given start.
func weightOf(start int64) int { return 1 + int(start%3) }

// checkEnded checks the counts of work by its end. Work that ended in the instant in which
// the window began may be in it or not.
func (m *model) checkEnded(t *testing.T, w law.Window, from int64) {
	t.Helper()
	sums := func(from int64) (weight, carried, failed, held int) {
		for _, e := range m.work {
			if e.end < from || e.outcome > Timeout {
				continue
			}
			if e.held {
				held++
			}
			if e.outcome == Success {
				weight += weightOf(e.start)
			}
			switch {
			case e.start >= m.fence:
			case e.outcome == Success:
				carried++
			default:
				failed++
			}
		}
		return weight, carried, failed, held
	}
	weight, carried, failed, held := sums(from + 1)
	mostWeight, mostCarried, mostFailed, mostHeld := sums(from)
	for _, c := range []struct {
		what             string
		got, least, most int
	}{
		{"weight", w.Weight, weight, mostWeight},
		{"carried", w.Carried, carried, mostCarried},
		{"carried and failed", w.CarriedFailed, failed, mostFailed},
		{"ended while held back", w.Held.Completed, held, mostHeld},
	} {
		if c.got < c.least || c.got > c.most {
			t.Fatalf("%s: %d, want %d to %d", c.what, c.got, c.least, c.most)
		}
	}
}
