// Package weirriver limits the jobs of River (github.com/riverqueue/river) with limiters that find
// how many may run at once.
//
// River runs as many jobs as a number says, MaxWorkers. Their downstream may take fewer at times,
// or more. A [Middleware] asks an admitter before each job, a [*weir.Limiter] or the one of the
// job's kind or queue, and tells it how the job ended:
//
//	river.Config{Middleware: []rivertype.Middleware{&weirriver.Middleware{Admitter: weirriver.One(lim)}}}
//
// The limiter says whether jobs wait or come back. With a queue ([weir.Config].Queue), a job waits
// there for its slot and keeps one of River's workers meanwhile; a queue as long as MaxWorkers,
// with a timeout of minutes, leaves all others in the database. Without a queue, or once that
// refuses it, a job is snoozed: its worker is free for jobs of other kinds, it comes back when the
// limiter expects to have room, and no attempt is used up.
package weirriver
