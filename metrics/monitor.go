package metrics

import (
	"errors"
	"slices"

	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/load"
)

var (
	monitorLoad    = line(Gauge, "weir_monitor_load", "weir.monitor.load", "1", "How close the system is to its limit: 1 at the limit. Absent while nothing is known.", monitorName)
	monitorRunning = line(Gauge, "weir_monitor_running", "weir.monitor.running", "1", "1 while Run is at work.", monitorName)
	sourceAge      = line(Gauge, "weir_monitor_age_seconds", "weir.monitor.age", "s", "Age of the newest valid reading of a source.", monitorName, source)
)

var forSource = columns[load.FeedSnapshot]{
	{line(Gauge, "weir_monitor_stale", "weir.monitor.stale", "1", "1 if a source gave no valid reading for too long.", monitorName, source), func(s *load.FeedSnapshot) float64 { return truth(errors.Is(s.Err, load.ErrStale)) }},
	{line(Counter, "weir_monitor_polls_total", "weir.monitor.polls", "{poll}", "Polls of a source that returned.", monitorName, source), func(s *load.FeedSnapshot) float64 { return float64(s.Polls) }},
	{line(Counter, "weir_monitor_poll_failures_total", "weir.monitor.poll.failures", "{poll}", "Polls without a valid reading.", monitorName, source), func(s *load.FeedSnapshot) float64 { return float64(s.Failures) }},
}

var forReading = columns[load.Reading]{
	{line(Gauge, "weir_monitor_reading", "weir.monitor.reading.value", "{unit}", "A reading, in its own unit.", monitorName, source, reading), func(r *load.Reading) float64 { return r.Value }},
	{line(Gauge, "weir_monitor_reading_load", "weir.monitor.reading.load", "1", "Load of a reading: 1 at its limit.", monitorName, source, reading), func(r *load.Reading) float64 { return r.Load() }},
}

var forMonitor = slices.Concat([]*Instrument{monitorLoad, monitorRunning, sourceAge}, forSource.all(), forReading.all())

// maxReadings bounds the readings of a source that have series: their names come from the source.
const maxReadings = 32

func readMonitor(out output, m *load.Monitor, labels []string) {
	if level := m.Level(load.All); level.Valid {
		out.number(monitorLoad, level.Load, labels)
	}
	out.number(monitorRunning, truth(m.Running()), labels)
	for _, s := range m.Snapshot() {
		if s.Missing {
			continue
		}
		of := join(labels, label.Clean(s.Source))
		if s.Polls > s.Failures {
			out.number(sourceAge, s.Age.Seconds(), of)
		}
		forSource.read(out, &s, of)
		readReadings(out, s.Readings, of)
	}
}

// readReadings yields the first valid reading of each name.
func readReadings(out output, readings []load.Reading, labels []string) {
	taken := map[string]bool{}
	for _, r := range readings[:min(len(readings), maxReadings)] {
		value := label.Clean(r.Name)
		if taken[value] || r.Err != nil {
			continue
		}
		taken[value] = true
		forReading.read(out, &r, join(labels, value))
	}
}
