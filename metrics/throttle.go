package metrics

import (
	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/throttle"
)

var throttleRunning = line(Gauge, "weir_throttle_running", "weir.throttle.running", "1", "1 while Run is at work.", throttling)

var forSide = columns[throttle.SideSnapshot]{
	{line(Gauge, "weir_throttle_load", "weir.throttle.load", "1", "Load that the laws use: 1 at the limit.", throttling, side), func(s *throttle.SideSnapshot) float64 { return s.Load }},
	{line(Gauge, "weir_throttle_pace", "weir.throttle.pace", "{cost}/s", "Cost that may start per second; 0 while nothing bounds it.", throttling, side), func(s *throttle.SideSnapshot) float64 { return s.Pace.Rate }},
	{line(Gauge, "weir_throttle_bound", "weir.throttle.bound", "{cost}", "Cost that may run at once; 0 while nothing bounds it.", throttling, side), func(s *throttle.SideSnapshot) float64 { return float64(s.MaxInFlight) }},
	{line(Gauge, "weir_throttle_rate", "weir.throttle.rate", "{cost}/s", "Cost that started per second, over about a second.", throttling, side), func(s *throttle.SideSnapshot) float64 { return s.Rate }},
	{line(Gauge, "weir_throttle_degraded", "weir.throttle.degraded", "1", "1 while signals are missing and symptoms count.", throttling, side), func(s *throttle.SideSnapshot) float64 { return truth(s.Degraded) }},
	{line(Gauge, "weir_throttle_emergency", "weir.throttle.emergency", "1", "1 during an emergency.", throttling, side), func(s *throttle.SideSnapshot) float64 { return truth(s.Emergency) }},
	{line(Counter, "weir_throttle_cost_total", "weir.throttle.cost", "{cost}", "Cost that started.", throttling, side), func(s *throttle.SideSnapshot) float64 { return float64(s.Cost) }},
	{line(Counter, "weir_throttle_waits_total", "weir.throttle.waits", "{operation}", "Operations that waited and then started.", throttling, side), func(s *throttle.SideSnapshot) float64 { return float64(s.Throttled) }},
	{line(Counter, "weir_throttle_wait_seconds_total", "weir.throttle.wait", "s", "Total time of these waits.", throttling, side), func(s *throttle.SideSnapshot) float64 { return s.ThrottleTime.Seconds() }},
	{line(Counter, "weir_throttle_emergencies_total", "weir.throttle.emergencies", "{emergency}", "Emergencies that began.", throttling, side), func(s *throttle.SideSnapshot) float64 { return float64(s.Emergencies) }},
}

func throttlePart(t *throttle.Throttle) part {
	st := t.Snapshot()
	labels := []string{label.Clean(st.Name)}
	reads, writes := []string{label.Clean(st.Reads.Limiter.Name)}, []string{label.Clean(st.Writes.Limiter.Name)}
	all := []series{{append(forSide.all(), throttleRunning), labels[0]}, {forLimiter.all(), reads[0]}, {forLimiter.all(), writes[0]}}
	return part{all, func(out output) {
		st := t.Snapshot()
		out.number(throttleRunning, truth(st.Running), labels)
		readSide(out, &st.Reads, join(labels, "reads"), reads)
		readSide(out, &st.Writes, join(labels, "writes"), writes)
	}}
}

func readSide(out output, s *throttle.SideSnapshot, labels, limiter []string) {
	forSide.read(out, s, labels)
	forLimiter.read(out, &s.Limiter, 0, limiter)
	forLimiter.readPeak(out, &s.Limiter, limiter)
}
