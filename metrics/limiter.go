package metrics

import (
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/law"
)

// ofWork has the instruments of a source that admits work: a limiter, or one key of a set.
type ofWork struct {
	columns[weir.Snapshot]

	peak, target, deadline      *Instrument // some sources lack these
	refused, completed, changes *Instrument // with an additional label
	latency, wait               *Instrument
}

func (w *ofWork) all() []*Instrument {
	return append(w.columns.all(), w.peak, w.target, w.deadline, w.refused, w.completed, w.changes, w.latency, w.wait)
}

var (
	forLimiter = newOfWork("weir_", "weir.limiter.", limiterName)
	forKey     = newOfWork("weir_key_", "weir.key.", limiterName, key)
)

func newOfWork(prom, otel string, labels ...Label) *ofWork {
	gauge := func(name, dotted, unit, help string) *Instrument {
		return line(Gauge, prom+name, otel+dotted, unit, help, labels...)
	}
	counter := func(name, dotted, help string, more ...Label) *Instrument {
		return line(Counter, prom+name+"_total", otel+dotted, "{request}", help, append(labels[:len(labels):len(labels)], more...)...)
	}
	durations := func(name, dotted, help string) *Instrument {
		return line(Distribution, prom+name+"_seconds", otel+dotted, "s", help, labels...)
	}
	return &ofWork{
		columns: columns[weir.Snapshot]{
			{gauge("limit", "limit", "{request}", "Work that may be in flight now, by weight."), func(s *weir.Snapshot) float64 { return float64(s.Limit) }},
			{gauge("limit_min", "limit.min", "{request}", "Lower bound of the limit."), func(s *weir.Snapshot) float64 { return float64(s.Min) }},
			{gauge("limit_max", "limit.max", "{request}", "Upper bound of the limit."), func(s *weir.Snapshot) float64 { return float64(s.Max) }},
			{gauge("in_flight", "active", "{request}", "Work in flight, by weight."), func(s *weir.Snapshot) float64 { return float64(s.InFlight) }},
			{gauge("resting", "resting", "{request}", "Slots that rest after the downstream refused their work."), func(s *weir.Snapshot) float64 { return float64(s.Resting) }},
			{gauge("queued", "queued", "{request}", "Work that waits."), func(s *weir.Snapshot) float64 { return float64(s.Queued) }},
			{gauge("oldest_age_seconds", "oldest.age", "s", "Age of the oldest work in flight; up to half too high."), func(s *weir.Snapshot) float64 { return s.Age.Seconds() }},
			{gauge("shadow", "shadow", "1", "1 in shadow mode, in which nothing is refused."), func(s *weir.Snapshot) float64 { return truth(s.Shadow) }},
			{counter("admitted", "requests", "Work that started.").as("weir.result", "admitted"), func(s *weir.Snapshot) float64 { return float64(s.Admitted) }},
			{counter("cancelled", "requests", "Work whose caller left while it waited.").as("weir.result", "cancelled"), func(s *weir.Snapshot) float64 { return float64(s.Cancelled) }},
			{counter("would_refuse", "shadow.refusals", "Work that started in shadow mode only."), func(s *weir.Snapshot) float64 { return float64(s.WouldRefuse) }},
		},

		peak:     gauge("in_flight_peak", "active.peak", "{request}", "Most work in flight in the last one to two minutes; needs Config.Histograms."),
		target:   gauge("target_seconds", "target", "s", "Latency that the law keeps the p95 at or below, if it has one."),
		deadline: gauge("deadline_seconds", "deadline", "s", "Time until the deadline of most work when it arrives; absent if most work has no deadline."),

		refused:   counter("refused", "requests", "Work that was refused, by reason.", reason).as("weir.result", "refused"),
		completed: counter("completed", "completions", "Work that ended, by outcome.", outcome),
		changes: line(Counter, prom+"limit_changes_total", otel+"changes", "{change}", "Changes of the limit, by direction.",
			append(labels[:len(labels):len(labels)], direction)...),

		latency: durations("latency", "lease.duration", "Latency of successful work from its start; needs Config.Histograms."),
		wait:    durations("queue_wait", "queue.duration", "Time in the queue of work that waited and was admitted; needs Config.Histograms."),
	}
}

// read yields the values of a snapshot.
func (w *ofWork) read(out output, s *weir.Snapshot, target time.Duration, labels []string) {
	w.columns.read(out, s, labels)
	if target > 0 {
		out.number(w.target, target.Seconds(), labels)
	}
	if s.Deadline > 0 {
		out.number(w.deadline, s.Deadline.Seconds(), labels)
	}
	for _, reason := range weir.Reasons() {
		out.with(w.refused, float64(s.Refused[reason]), labels, reason.String())
	}
	for i, n := range [...]uint64{s.Succeeded, s.Failed, s.TimedOut, s.Ignored, s.Overloaded, s.Late} {
		out.with(w.completed, float64(n), labels, weir.Outcome(i).String())
	}
	out.with(w.changes, float64(s.Raised), labels, "up")
	out.with(w.changes, float64(s.Cut), labels, "down")
	out.histogram(w.latency, s.Latencies, labels)
	out.histogram(w.wait, s.QueueWaits, labels)
}

// readPeak yields the peak of a limiter. A set has no peak: its keys have their peaks at different
// moments, and the sum can be far above the cap.
func (w *ofWork) readPeak(out output, s *weir.Snapshot, labels []string) {
	if s.Latencies != nil {
		out.number(w.peak, float64(s.Peak), labels)
	}
}

func limiterPart(l *weir.Limiter) part {
	name := label.Clean(l.Config().Name)
	labels := []string{name}
	return part{[]series{{forLimiter.all(), name}}, func(out output) {
		snap := l.Snapshot()
		forLimiter.read(out, &snap, targetOf(l.Config().Law), labels)
		forLimiter.readPeak(out, &snap, labels)
	}}
}

// targetOf returns the latency that a law keeps, or 0 if the law keeps no latency.
func targetOf(l law.Law) time.Duration {
	switch l := l.(type) {
	case law.Band:
		return l.Target
	case law.PID:
		return l.Target
	case law.Setpoint:
		return l.Budget
	case interface{ Unwrap() law.Law }: // a law around another law
		return targetOf(l.Unwrap())
	}
	return 0
}
