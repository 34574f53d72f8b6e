package throttle

// Concurrency bounds the cost that runs at once by [law.Setpoint], the law of every limiter. It
// suits work that waits for other work within the database, for locks, connections or threads. A
// pace would either leave the lock idle or leave its queue in place, while a bound of just enough
// operations keeps the lock in use and is as fast as possible.
//
// It uses the latency of the side's own operations, so it needs neither a Monitor nor Run. The
// side's LatencyTarget is the budget of the law. Samples that name [load.ByConcurrency] show such
// waits: the other laws of the side, and its emergency, ignore these samples.
//
// An operation of cost 10 counts as ten operations that start and end together. So the bound has
// the unit of MaxInFlight and of the pace, and adapts to any unit that the caller chose. An
// operation that costs more than the bound runs alone, after all running operations have ended.
type Concurrency struct{}

// start returns nothing that asks for a pace: the limiter of the side runs the law.
func (Concurrency) start(string) (controller, error) { return nil, nil }
