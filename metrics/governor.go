package metrics

import "github.com/weir-go/weir/memory"

// ofGovernor are the instruments of a governor of memory.
type ofGovernor struct {
	target, anonymous, resident, need, limit, load *Instrument
	budget, inFlight, kept, waiting                *Instrument
	waited, pagedOut                               *Instrument
	tooSmall                                       *Instrument
}

func (g *ofGovernor) all() []*Instrument {
	return []*Instrument{
		g.target, g.anonymous, g.resident, g.need, g.limit, g.load,
		g.budget, g.inFlight, g.kept, g.waiting, g.waited, g.pagedOut, g.tooSmall,
	}
}

var forGovernor = &ofGovernor{
	target:    line(Gauge, "weir_governor_target_bytes", "weir.governor.target", "By", "Memory that the process may have.", governorName),
	anonymous: line(Gauge, "weir_governor_anonymous_bytes", "weir.governor.anonymous", "By", "Resident memory that is of no file.", governorName),
	resident:  line(Gauge, "weir_governor_resident_bytes", "weir.governor.resident", "By", "Resident memory, mapped files included.", governorName),
	need:      line(Gauge, "weir_governor_need_bytes", "weir.governor.need", "By", "Memory that a collection of garbage would leave.", governorName),
	limit:     line(Gauge, "weir_governor_limit_bytes", "weir.governor.limit", "By", "Memory limit that the runtime was given.", governorName),
	load:      line(Gauge, "weir_governor_load", "weir.governor.load", "1", "Need as a share of the need that leaves no room for work: 1 there.", governorName),
	budget:    line(Gauge, "weir_governor_budget_bytes", "weir.governor.budget", "By", "Bytes that may be in flight now.", governorName),
	inFlight:  line(Gauge, "weir_governor_in_flight_bytes", "weir.governor.active", "By", "Bytes in flight.", governorName),
	kept:      line(Gauge, "weir_governor_kept_bytes", "weir.governor.kept", "By", "Bytes that are kept for clients.", governorName),
	waiting:   line(Gauge, "weir_governor_waiting", "weir.governor.waiting", "{call}", "Calls that wait for bytes.", governorName),
	waited:    line(Counter, "weir_governor_wait_seconds_total", "weir.governor.wait", "s", "Time for which calls waited.", governorName),
	pagedOut:  line(Counter, "weir_governor_paged_out_bytes_total", "weir.governor.paged.out", "By", "Pages of mapped files that Linux was asked to take back.", governorName),
	tooSmall:  line(Gauge, "weir_governor_too_small", "weir.governor.too.small", "1", "1 while the target is below what the store needs.", governorName),
}

func readGovernor(out output, g owned[*memory.Governor]) {
	s := g.source.Snapshot()
	out.number(forGovernor.target, float64(s.Target), g.labels)
	out.number(forGovernor.anonymous, float64(s.Anonymous), g.labels)
	out.number(forGovernor.resident, float64(s.Resident), g.labels)
	out.number(forGovernor.need, float64(s.Need), g.labels)
	out.number(forGovernor.limit, float64(s.Limit), g.labels)
	out.number(forGovernor.load, s.Load(), g.labels)
	out.number(forGovernor.budget, float64(s.Budget), g.labels)
	out.number(forGovernor.inFlight, float64(s.InFlight), g.labels)
	out.number(forGovernor.kept, float64(s.Kept), g.labels)
	out.number(forGovernor.waiting, float64(s.Waiting), g.labels)
	out.number(forGovernor.waited, s.Waited.Seconds(), g.labels)
	out.number(forGovernor.pagedOut, float64(s.PagedOut), g.labels)
	out.number(forGovernor.tooSmall, truth(s.TooSmall), g.labels)
}
