package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// feed claims tasks until the source ends or the run does.
func (r *run) feed() {
	select {
	case <-r.sized: // so that the first decision sees the whole backlog
	case <-r.claims.Done():
	case <-time.After(r.scaling.shortest()): // the source has no news
	}
	var claimed []Delivery
	why := fmt.Errorf("%w: Claim: %w", ErrSource, ErrExited)
	defer func() { // also if Claim ends this goroutine
		r.add(claimed)
		r.update(func(b *board, _ moment, fx *effects) { b.end(why, fx) })
	}()
	for {
		room := r.room()
		if room == 0 {
			why = r.endOf(nil)
			return
		}
		if over, err := r.claim(room, &claimed); err != nil {
			why = nil
			if !over {
				why = r.endOf(err)
			}
			return
		}
		r.add(claimed)
		clear(claimed)
		claimed = claimed[:0]
	}
}

// endOf is why the run ends when the claiming does, before the source has ended.
func (r *run) endOf(err error) error {
	switch {
	case err != nil && r.claims.Err() == nil:
		return fmt.Errorf("%w: %w", ErrSource, err)
	case r.outer.Err() != nil:
		return context.Cause(r.outer) // the run may be over before the timers see it
	}
	return nil
}

// room waits until there is room for more tasks, and returns for how many: none when no more
// are wanted.
func (r *run) room() int {
	for {
		r.mu.Lock()
		n, over := r.board.room(r.moment(now()))
		r.mu.Unlock()
		switch {
		case over || r.claims.Err() != nil:
			return 0
		case n > 0:
			return n
		}
		select {
		case <-r.needTasks:
		case <-r.claims.Done():
		}
	}
}

// A readySource has its tasks at hand, so that several can be claimed without keeping the
// first waiting.
type readySource interface {
	claimUpTo(ctx context.Context, n int, claimed *[]Delivery) error
}

// claim asks the source, whose panic is an error. It may claim tasks and return an error, and
// reports whether that says that the source has ended.
func (r *run) claim(room int, claimed *[]Delivery) (over bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			over, err = false, fmt.Errorf("Claim: %w", &PanicError{p, debug.Stack()})
		}
	}()
	if s, ok := r.conf.Source.(readySource); ok {
		err = s.claimUpTo(r.claims, room, claimed)
	} else {
		var d Delivery
		if d, err = r.conf.Source.Claim(r.claims); err == nil {
			*claimed = append(*claimed, d)
		}
	}
	return errors.Is(err, io.EOF), err
}

// add takes tasks in.
func (r *run) add(claimed []Delivery) {
	if len(claimed) == 0 {
		return
	}
	items, errs := make([]item, len(claimed)), make([]error, len(claimed))
	for i, d := range claimed {
		errs[i] = r.prepare(&items[i], d)
	}
	r.update(func(b *board, m moment, fx *effects) { b.add(items, errs, m, fx) })
}

// prepare makes an item of a claimed task, or says why it can never run.
func (r *run) prepare(it *item, d Delivery) (err error) {
	it.Task, it.run, it.Context = d.Task, r, r.ctx
	if d.Lease != nil {
		ctx, cancel := context.WithCancelCause(r.ctx)
		it.Context = ctx
		it.lease = &lease{Lease: d.Lease, length: min(d.LeaseTime, maxLong), lose: cancel}
		it.lease.hold(ctx)
	}
	it.request = r.cost
	if err := it.check(); err != nil {
		return err
	}
	it.Retry = it.Retry.orDefault(r.conf.Retry)
	if it.Cost != nil {
		it.request, err = r.conf.Capacity.Request(it.Cost)
	}
	return err
}
