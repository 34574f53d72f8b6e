package metrics

import "github.com/weir-go/weir/pool"

var (
	poolTasks     = line(Gauge, "weir_pool_tasks", "weir.pool.tasks", "{task}", "Tasks that were claimed and have not ended, by state.", poolName, state)
	poolEnded     = line(Counter, "weir_pool_ended_tasks_total", "weir.pool.ended", "{task}", "Tasks that ended, by outcome.", poolName, outcome)
	poolAbandoned = line(Gauge, "weir_pool_abandoned", "weir.pool.abandoned", "{thing}", "Tasks and sources that had not ended when the run did.", poolName)

	forPool = []*Instrument{poolTasks, poolEnded, poolAbandoned}
)

func readPool(out output, p *pool.Pool, labels []string) {
	s := p.Snapshot()
	out.with(poolTasks, float64(s.Running), labels, "running")
	out.with(poolTasks, float64(s.Ready), labels, "ready")
	out.with(poolTasks, float64(s.Blocked), labels, "blocked")
	out.with(poolEnded, float64(s.Completed), labels, "success")
	out.with(poolEnded, float64(s.Failed), labels, "failure")
	out.with(poolEnded, float64(s.Cancelled), labels, "cancelled")
	out.number(poolAbandoned, float64(len(s.Abandoned)), labels)
}
