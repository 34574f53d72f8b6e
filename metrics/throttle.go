package metrics

import "github.com/weir-go/weir/throttle"

// ofThrottle are the instruments that only a throttle has. Its sides have a limiter's, too.
type ofThrottle struct {
	running                          *Instrument
	load, pace, bound, rate          *Instrument // of a side, as the rest
	degraded, emergency              *Instrument
	cost, waits, waited, emergencies *Instrument
}

func (t *ofThrottle) all() []*Instrument {
	return []*Instrument{
		t.running, t.load, t.pace, t.bound, t.rate,
		t.degraded, t.emergency, t.cost, t.waits, t.waited, t.emergencies,
	}
}

var forThrottle = &ofThrottle{
	running:     line(Gauge, "weir_throttle_running", "weir.throttle.running", "1", "1 while Run is at work.", throttling),
	load:        line(Gauge, "weir_throttle_load", "weir.throttle.load", "1", "Load that the laws went by: 1 at the limit.", throttling, side),
	pace:        line(Gauge, "weir_throttle_pace", "weir.throttle.pace", "{cost}/s", "Cost that may start per second; 0 while nothing bounds it.", throttling, side),
	bound:       line(Gauge, "weir_throttle_bound", "weir.throttle.bound", "{cost}", "Cost that may run at once; 0 while nothing bounds it.", throttling, side),
	rate:        line(Gauge, "weir_throttle_rate", "weir.throttle.rate", "{cost}/s", "Cost that started per second, over about a second.", throttling, side),
	degraded:    line(Gauge, "weir_throttle_degraded", "weir.throttle.degraded", "1", "1 while signals are missing and symptoms count.", throttling, side),
	emergency:   line(Gauge, "weir_throttle_emergency", "weir.throttle.emergency", "1", "1 during an emergency.", throttling, side),
	cost:        line(Counter, "weir_throttle_cost_total", "weir.throttle.cost", "{cost}", "Cost that started.", throttling, side),
	waits:       line(Counter, "weir_throttle_waits_total", "weir.throttle.waits", "{operation}", "Operations that waited and then started.", throttling, side),
	waited:      line(Counter, "weir_throttle_wait_seconds_total", "weir.throttle.wait", "s", "Time for which those waited.", throttling, side),
	emergencies: line(Counter, "weir_throttle_emergencies_total", "weir.throttle.emergencies", "{emergency}", "Emergencies that began.", throttling, side),
}

// throttled is a throttle with its labels.
type throttled struct {
	owned[*throttle.Throttle]
	sides    [2][]string
	limiters [2]string // names of the limiters of the sides
	work     [2]workLabels
}

func newThrottled(t *throttle.Throttle) *throttled {
	st := t.Snapshot()
	name := clean(st.Name)
	d := &throttled{owned: owned[*throttle.Throttle]{t, []string{name}}}
	for i, s := range [...]throttle.SideSnapshot{st.Reads, st.Writes} {
		d.sides[i] = []string{name, [...]string{"reads", "writes"}[i]}
		d.limiters[i] = clean(s.Limiter.Name)
		d.work[i] = newWorkLabels(d.limiters[i])
	}
	return d
}

func (t *throttled) read(out output) {
	st := t.source.Snapshot()
	out.number(forThrottle.running, truth(st.Running), t.labels)
	for i, s := range [...]throttle.SideSnapshot{st.Reads, st.Writes} {
		labels := t.sides[i]
		out.number(forThrottle.load, s.Load, labels)
		out.number(forThrottle.pace, s.Pace.Rate, labels)
		out.number(forThrottle.bound, float64(s.MaxInFlight), labels)
		out.number(forThrottle.rate, s.Rate, labels)
		out.number(forThrottle.degraded, truth(s.Degraded), labels)
		out.number(forThrottle.emergency, truth(s.Emergency), labels)
		out.number(forThrottle.cost, float64(s.Cost), labels)
		out.number(forThrottle.waits, float64(s.Throttled), labels)
		out.number(forThrottle.waited, s.ThrottleTime.Seconds(), labels)
		out.number(forThrottle.emergencies, float64(s.Emergencies), labels)
		forLimiter.read(out, &s.Limiter, 0, &t.work[i])
		forLimiter.readPeak(out, &s.Limiter, &t.work[i])
	}
}
