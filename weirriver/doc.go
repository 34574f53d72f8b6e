// Package weirriver limits the jobs of River (github.com/riverqueue/river) with limiters that find
// the number of jobs that may run at once.
//
// River runs up to MaxWorkers jobs at once, a fixed number. At times their downstream can take
// fewer jobs, or more. A [Middleware] acquires a permit for each job, from a [*weir.Limiter] or
// from the limiter of the job's kind or queue, and reports the outcome of the job:
//
//	river.Config{Middleware: []rivertype.Middleware{&weirriver.Middleware{Admitter: weirriver.One(lim)}}}
//
// If the limiter has a queue ([weir.Config].Queue), a job without a slot waits there and keeps one
// of River's workers. A queue as long as MaxWorkers, with a timeout of minutes, leaves all other
// jobs in the database. Without a queue, or if the queue refuses the job, the job is snoozed: its
// worker is free for jobs of other kinds, the job comes back when the limiter expects to have
// room, and it loses no attempt.
package weirriver
