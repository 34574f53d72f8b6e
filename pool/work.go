package pool

import (
	"runtime/debug"

	"github.com/weir-go/weir"
)

// startWorker runs items while there are any.
func (r *run) startWorker() {
	var it *item
	r.update(func(b *board, _ moment, _ *effects) {
		it = b.booked.take()
		r.spawning = false
	})
	r.work(it)
}

// work runs an item, and then the items that wait for a worker.
func (r *run) work(it *item) {
	exited := true // by runtime.Goexit in a task
	defer func() {
		if exited {
			next := r.finish(it, attempt{err: ErrExited, outcome: weir.Failure})
			r.helpers.Go(func() { r.work(next) })
		}
	}()
	for it != nil {
		r.scaling.started(it)
		it = r.finish(it, tryOnce(it))
	}
	exited = false
}

type attempt struct {
	value   any
	err     error
	outcome weir.Outcome
}

// tryOnce runs an item once.
func tryOnce(it *item) (a attempt) {
	a.value, a.err = runTask(it)
	if a.err != nil {
		a.judge()
	}
	return a
}

// runTask runs the task of an item. A panic is an error.
func runTask(it *item) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p, debug.Stack()}
		}
	}()
	return it.Run(it)
}

// judge asks the error, which is code of the user, for its outcome.
func (a *attempt) judge() {
	a.outcome = weir.Failure
	defer func() { _ = recover() }() // an error that panics remains a failure
	a.outcome = weir.Classify(a.err)
}

// finish gives back the grant of an item, reports its result, and returns an item that
// waits for a worker, nil if there is none.
func (r *run) finish(it *item, a attempt) (next *item) {
	r.releasing.Add(1)
	it.grant.Release()
	at := now()
	r.scaling.ended(it, at, a)
	var fx effects
	r.mu.Lock()
	r.releasing.Add(-1)
	r.board.ended(it, a, r.moment(at), &fx)
	next = r.board.booked.take()
	r.unlock(&fx)
	r.perform(&fx)
	return next
}
