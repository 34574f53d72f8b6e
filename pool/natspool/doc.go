// Package natspool makes a stream of NATS JetStream the source of a pool: a durable queue of jobs,
// without a server to run, or in a cluster.
//
//	local, err := natspool.Open(ctx, "/var/lib/mail") // or a connection of your own
//	...
//	defer local.Close()
//	queue, err := natspool.New(ctx, local.JetStream(), natspool.Config{Stream: "mail"})
//	...
//	p, err := pool.New(pool.Config{
//		Capacity: c,
//		Source:   queue.Source(func(j natspool.Job) pool.Task { ... }),
//		Scaler:   pool.ByBacklog{Max: 64, Per: 10},
//	})
//
// # Delivery
//
// A job is delivered at least once, and stays in the stream until it is acknowledged. A worker that
// dies loses nothing: its jobs are delivered again when their lease is over, [Config].Lease after
// it was last extended. JetStream counts deliveries, so [pool.Config].MaxAttempts works. A rejected
// job goes to a stream of dead letters with its reason: see [Queue.DeadLetters].
//
// JetStream takes an acknowledgement of a delivery that is out of date. So a lease has its own
// clock: when its time is over it is lost, even if the server would take an acknowledgement.
// Between two processes a job can still run twice at once, if one is stopped for longer than a
// lease and continues.
//
// # Sizes
//
// A process holds as many jobs as its pool can run, and no more, so that long jobs do not wait
// behind each other while another process is idle.
package natspool
