package metrics

import (
	"errors"

	"github.com/weir-go/weir/load"
)

// ofMonitor are the instruments of a monitor.
type ofMonitor struct {
	load, running               *Instrument
	age, stale, polls, failures *Instrument // of a source
	value, valueLoad            *Instrument // of a reading
}

func (m *ofMonitor) all() []*Instrument {
	return []*Instrument{m.load, m.running, m.age, m.stale, m.polls, m.failures, m.value, m.valueLoad}
}

var forMonitor = &ofMonitor{
	load:      line(Gauge, "weir_monitor_load", "weir.monitor.load", "1", "How close the system is to its limit: 1 at the limit. Absent while nothing is known.", monitorName),
	running:   line(Gauge, "weir_monitor_running", "weir.monitor.running", "1", "1 while Run is at work.", monitorName),
	age:       line(Gauge, "weir_monitor_age_seconds", "weir.monitor.age", "s", "Age of the newest valid reading of a source.", monitorName, source),
	stale:     line(Gauge, "weir_monitor_stale", "weir.monitor.stale", "1", "1 if a source gave no valid reading for too long.", monitorName, source),
	polls:     line(Counter, "weir_monitor_polls_total", "weir.monitor.polls", "{poll}", "Polls of a source that returned.", monitorName, source),
	failures:  line(Counter, "weir_monitor_poll_failures_total", "weir.monitor.poll.failures", "{poll}", "Polls without a valid reading.", monitorName, source),
	value:     line(Gauge, "weir_monitor_reading", "weir.monitor.reading.value", "{unit}", "A reading, in its own unit.", monitorName, source, reading),
	valueLoad: line(Gauge, "weir_monitor_reading_load", "weir.monitor.reading.load", "1", "Load of a reading: 1 at its limit.", monitorName, source, reading),
}

// maxReadings bounds the readings of a source that have series: their names come from the source.
const maxReadings = 32

func readMonitor(out output, m owned[*load.Monitor]) {
	if level := m.source.Level(load.All); level.Valid {
		out.number(forMonitor.load, level.Load, m.labels)
	}
	out.number(forMonitor.running, truth(m.source.Running()), m.labels)
	taken := map[string]bool{}
	for _, s := range m.source.Snapshot() {
		name := clean(s.Source)
		if taken[name] || s.Missing {
			continue
		}
		taken[name] = true
		labels := join(m.labels, name)
		if s.Polls > s.Failures {
			out.number(forMonitor.age, s.Age.Seconds(), labels)
		}
		out.number(forMonitor.stale, truth(errors.Is(s.Err, load.ErrStale)), labels)
		out.number(forMonitor.polls, float64(s.Polls), labels)
		out.number(forMonitor.failures, float64(s.Failures), labels)
		readReadings(out, s.Readings, labels)
	}
}

// readReadings leaves out readings that are not valid, and all but the first of a name.
func readReadings(out output, readings []load.Reading, labels []string) {
	taken := map[string]bool{}
	for _, r := range readings[:min(len(readings), maxReadings)] {
		value := clean(r.Name)
		if taken[value] || r.Err != nil {
			continue
		}
		taken[value] = true
		l := join(labels, value)
		out.number(forMonitor.value, r.Value, l)
		out.number(forMonitor.valueLoad, r.Load(), l)
	}
}
