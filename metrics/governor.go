package metrics

import "github.com/weir-go/weir/memory"

var forGovernor = columns[memory.Snapshot]{
	{line(Gauge, "weir_governor_target_bytes", "weir.governor.target", "By", "Memory that the process may have.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Target) }},
	{line(Gauge, "weir_governor_anonymous_bytes", "weir.governor.anonymous", "By", "Resident memory that is not mapped from files.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Anonymous) }},
	{line(Gauge, "weir_governor_resident_bytes", "weir.governor.resident", "By", "Resident memory, mapped files included.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Resident) }},
	{line(Gauge, "weir_governor_need_bytes", "weir.governor.need", "By", "Memory that remains after a garbage collection.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Need) }},
	{line(Gauge, "weir_governor_limit_bytes", "weir.governor.limit", "By", "Memory limit of the Go runtime.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Limit) }},
	{line(Gauge, "weir_governor_load", "weir.governor.load", "1", "Memory that is needed, relative to the amount that leaves no room for work.", governorName), func(s *memory.Snapshot) float64 { return s.Load() }},
	{line(Gauge, "weir_governor_budget_bytes", "weir.governor.budget", "By", "Bytes that may be in flight now.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Budget) }},
	{line(Gauge, "weir_governor_in_flight_bytes", "weir.governor.active", "By", "Bytes in flight.", governorName), func(s *memory.Snapshot) float64 { return float64(s.InFlight) }},
	{line(Gauge, "weir_governor_kept_bytes", "weir.governor.kept", "By", "Bytes that clients hold.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Kept) }},
	{line(Gauge, "weir_governor_waiting", "weir.governor.waiting", "{call}", "Calls that wait for bytes.", governorName), func(s *memory.Snapshot) float64 { return float64(s.Waiting) }},
	{line(Counter, "weir_governor_wait_seconds_total", "weir.governor.wait", "s", "Time for which calls waited.", governorName), func(s *memory.Snapshot) float64 { return s.Waited.Seconds() }},
	{line(Counter, "weir_governor_paged_out_bytes_total", "weir.governor.paged.out", "By", "Pages of mapped files that Linux was asked to take back.", governorName), func(s *memory.Snapshot) float64 { return float64(s.PagedOut) }},
	{line(Gauge, "weir_governor_too_small", "weir.governor.too.small", "1", "1 while the target is below what the store needs.", governorName), func(s *memory.Snapshot) float64 { return truth(s.TooSmall) }},
}

func readGovernor(out output, g *memory.Governor, labels []string) {
	s := g.Snapshot()
	forGovernor.read(out, &s, labels)
}
