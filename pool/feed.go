package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weir-go/weir/internal/dag"
)

// feed claims tasks until the source ends or the run does.
func (r *run) feed() {
	select {
	case <-r.sized: // so that the first decision sees the whole backlog
	case <-r.claims.Done():
	case <-time.After(r.shortest()): // the source does not tell
	}
	var why error
	for r.appetite() {
		d, err := r.claim()
		if err != nil {
			if !errors.Is(err, io.EOF) && r.claims.Err() == nil {
				why = fmt.Errorf("%w: %w", ErrSource, err)
			}
			break
		}
		r.add(d)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fed = true
	if r.why == nil {
		r.why = why
	}
	for _, unknown := range r.graph.Unknown() { // it will not come
		err := fmt.Errorf("%w: it waits for %q, which never came", ErrDependency, unknown)
		r.failDependents(unknown, err)
	}
	r.looked()
}

// appetite waits until there is room for another task, and reports false when no more are
// wanted.
func (r *run) appetite() bool {
	for {
		r.mu.Lock()
		enough := len(r.ready)+len(r.resting) >= r.conf.Lookahead
		stopped := r.stopped
		if !stopped && !enough {
			r.idle = now()
		}
		r.mu.Unlock()
		switch {
		case stopped || r.claims.Err() != nil:
			return false
		case !enough:
			return true
		}
		select {
		case <-r.hungry:
		case <-r.claims.Done():
		}
	}
}

// claim asks the source, whose panic is an error.
func (r *run) claim() (d Delivery, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return r.conf.Source.Claim(r.claims)
}

// add takes a task in, or says at once why it can never run.
func (r *run) add(d Delivery) {
	it := &item{Task: d.Task, run: r, Context: r.ctx}
	if d.Lease != nil {
		ctx, cancel := context.WithCancelCause(r.ctx)
		it.Context = ctx
		it.lease = &lease{Lease: d.Lease, length: d.LeaseTime, lose: cancel}
		it.lease.hold(ctx)
	}
	err := it.check()
	if err == nil {
		it.need, err = r.needOf(&it.Task)
	}
	it.Retry = it.Retry.orDefault(r.conf.Retry)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = 0
	r.seq++
	it.seq = r.seq
	it.rank(now(), r.conf.Aging)
	switch {
	case err != nil:
		r.fail(it, Event{Kind: Failed, Err: Permanent(err)})
	case r.stopped:
		r.conclude(it, Event{Kind: Cancelled, Err: r.reason()}, 0)
	default:
		r.enter(it)
	}
	r.start(false)
}

// reason is why nothing starts any more.
func (r *run) reason() error {
	if r.why == nil {
		return ErrDrained
	}
	return r.why
}

// enter adds an item to the graph, and to those that could start if it waits for none.
func (r *run) enter(it *item) {
	if it.Key == "" {
		r.queue(it)
		return
	}
	free, err := r.graph.Add(it.Key, it.After)
	switch failed := (*dag.FailedError)(nil); {
	case errors.Is(err, dag.ErrDuplicate):
		r.failed++ // its twin is in the graph, and stays
		r.conclude(it, Event{Kind: Failed, Err: fmt.Errorf("%w: %q: %w", ErrDuplicate, it.Key, err)}, r.conf.Redeliver)
	case errors.As(err, &failed):
		r.cancelTask(it, fmt.Errorf("%w: %w", ErrDependency, err))
	case err != nil:
		r.fail(it, Event{Kind: Failed, Err: Permanent(fmt.Errorf("%w: %w", ErrDependency, err))})
	case free:
		r.queue(it)
	default:
		r.blocked[it.Key] = it
	}
}

// queue lets an item start.
func (r *run) queue(it *item) {
	r.ready.add(it)
	if it.need != r.cost {
		r.odd++
	}
}
