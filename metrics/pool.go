package metrics

import "github.com/weir-go/weir/pool"

// ofPool are the instruments of a pool.
type ofPool struct{ tasks, ended, abandoned *Instrument }

func (p *ofPool) all() []*Instrument { return []*Instrument{p.tasks, p.ended, p.abandoned} }

var forPool = &ofPool{
	tasks:     line(Gauge, "weir_pool_tasks", "weir.pool.tasks", "{task}", "Tasks that were claimed and have not ended, by state.", poolName, state),
	ended:     line(Counter, "weir_pool_ended_tasks_total", "weir.pool.ended", "{task}", "Tasks that ended, by outcome.", poolName, outcome),
	abandoned: line(Gauge, "weir_pool_abandoned", "weir.pool.abandoned", "{thing}", "Tasks and sources that were left behind when the run ended.", poolName),
}

func readPool(out output, p owned[*pool.Pool]) {
	s := p.source.Snapshot()
	out.with(forPool.tasks, float64(s.Running), p.labels, "running")
	out.with(forPool.tasks, float64(s.Ready), p.labels, "ready")
	out.with(forPool.tasks, float64(s.Blocked), p.labels, "blocked")
	out.with(forPool.tasks, float64(s.Resting), p.labels, "resting")
	out.with(forPool.ended, float64(s.Completed), p.labels, "success")
	out.with(forPool.ended, float64(s.Failed), p.labels, "failure")
	out.with(forPool.ended, float64(s.Cancelled), p.labels, "cancelled")
	out.number(forPool.abandoned, float64(len(s.Abandoned)), p.labels)
}
