package throttle

// Concurrency bounds how much cost runs at once by [law.Setpoint], the law of every limiter. It
// suits work that waits for other work within the database, for locks, connections or threads:
// there a pace either idles the lock or leaves the queue, while as many operations as keep it in
// use are as fast as can be.
//
// It uses the latency of the side's own operations, so it needs neither a Monitor nor Run. The
// side's LatencyTarget is the budget of the law. Samples that name [load.ByConcurrency] show
// that work waits: the other laws of the side, and its emergency, leave them alone.
//
// An operation of cost 10 counts as ten that start and end together, so the bound is in the unit of
// MaxInFlight and of the pace, and finds its way whatever unit the caller chose. One that costs
// more than the bound runs alone, once all that ran before it has ended.
type Concurrency struct{}

// start returns nothing that asks for a pace: the limiter of the side runs the law.
func (Concurrency) start(string) (controller, error) { return nil, nil }
