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
	exhausted := false
	for {
		room := r.appetite()
		if room == 0 {
			break
		}
		claimed, err := r.claim(room)
		r.add(claimed)
		if err != nil {
			exhausted = errors.Is(err, io.EOF)
			if !exhausted && r.claims.Err() == nil {
				why = fmt.Errorf("%w: %w", ErrSource, err)
			}
			break
		}
	}
	if !exhausted && why == nil && r.outer.Err() != nil {
		why = context.Cause(r.outer) // the run may be over before attend hears of it
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

// appetite waits until there is room for more tasks, and returns for how many: none when no more
// are wanted.
func (r *run) appetite() int {
	for {
		r.mu.Lock()
		room := r.conf.Lookahead - r.ready.len() - len(r.resting)
		stopped := r.stopped
		if !stopped && room > 0 {
			r.idle = now()
		}
		r.mu.Unlock()
		switch {
		case stopped || r.claims.Err() != nil:
			return 0
		case room > 0:
			return room
		}
		select {
		case <-r.hungry:
		case <-r.claims.Done():
		}
	}
}

// A readySource has its tasks at hand, so that several can be claimed without keeping the
// first waiting.
type readySource interface {
	claimUpTo(ctx context.Context, n int) ([]Delivery, error)
}

// claim asks the source, whose panic is an error. It may return tasks and an error.
func (r *run) claim(room int) (claimed []Delivery, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	if s, ok := r.conf.Source.(readySource); ok {
		return s.claimUpTo(r.claims, room)
	}
	d, err := r.conf.Source.Claim(r.claims)
	if err != nil {
		return nil, err
	}
	return []Delivery{d}, nil
}

// add takes tasks in, and says at once of those that can never run why.
func (r *run) add(claimed []Delivery) {
	if len(claimed) == 0 {
		return
	}
	items, errs := make([]item, len(claimed)), make([]error, len(claimed))
	for i, d := range claimed {
		errs[i] = r.prepare(&items[i], d)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = 0
	at := now()
	for i := range items {
		it := &items[i]
		r.seq++
		it.seq = r.seq
		it.rank(at, r.conf.Aging)
		switch {
		case r.stopped:
			r.conclude(it, Event{Kind: Cancelled, Err: r.reason()}, 0)
		default:
			r.enter(it, errs[i])
		}
	}
	r.start(at, false)
}

// prepare makes an item of what was claimed, or says why it can never run.
func (r *run) prepare(it *item, d Delivery) (err error) {
	it.Task, it.run, it.Context = d.Task, r, r.ctx
	if d.Lease != nil {
		ctx, cancel := context.WithCancelCause(r.ctx)
		it.Context = ctx
		it.lease = &lease{Lease: d.Lease, length: d.LeaseTime, lose: cancel}
		it.lease.hold(ctx)
	}
	if err := it.check(); err != nil {
		return err
	}
	it.Retry = it.Retry.orDefault(r.conf.Retry)
	it.need, err = r.needOf(&it.Task)
	return err
}

// reason is why nothing starts any more.
func (r *run) reason() error {
	if r.why == nil {
		return ErrDrained
	}
	return r.why
}

// enter adds an item to the graph, and to those that could start if it waits for none. An item
// with an error ends there, unless another of its key is in the graph, whose end that is not.
func (r *run) enter(it *item, err error) {
	free := true
	if it.Key != "" {
		var refused error
		if free, refused = r.graph.Add(it.Key, it.After); refused != nil {
			r.refuse(it, refused)
			return
		}
	}
	switch {
	case err != nil:
		r.fail(it, Event{Kind: Failed, Err: Permanent(err)})
	case free:
		r.queue(it)
	default:
		r.blocked[it.Key] = it
	}
}

// refuse ends an item that the graph does not take.
func (r *run) refuse(it *item, why error) {
	err := fmt.Errorf("%w: %w", ErrDependency, why)
	switch failed := (*dag.FailedError)(nil); {
	case errors.Is(why, dag.ErrDuplicate):
		r.failed++ // its twin is in the graph, and stays
		r.conclude(it, Event{Kind: Failed, Err: fmt.Errorf("%w: %q: %w", ErrDuplicate, it.Key, why)}, r.conf.Redeliver)
	case errors.As(why, &failed):
		r.cancelTask(it, err)
	default:
		r.fail(it, Event{Kind: Failed, Err: Permanent(err)})
	}
}

// queue lets an item start.
func (r *run) queue(it *item) {
	r.ready.add(it)
	if it.need != r.cost {
		r.odd++
	}
}
