package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"time"
)

// feed claims tasks until the source ends or the run does.
func (r *run) feed() {
	select {
	case <-r.sized: // so that the first decision sees the whole backlog
	case <-r.claims.Done():
	case <-time.After(r.scaling.shortest()): // the source is slow to report its backlog
	}
	var claimed []Delivery
	handOn := func(d Delivery) { claimed = append(claimed, d) }
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
		if over, err := r.claim(room, handOn); err != nil {
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

// endOf returns why the run ends, if the claiming ends before the source.
func (r *run) endOf(err error) error {
	switch {
	case err != nil && r.claims.Err() == nil:
		return fmt.Errorf("%w: %w", ErrSource, err)
	case r.outer.Err() != nil:
		return context.Cause(r.outer) // the run may be over before look sees it
	}
	return nil
}

// room waits until there is room for more tasks, and returns their number. 0 means that the run
// wants no more.
func (r *run) room() int {
	for {
		most := int64(math.MaxInt64)
		if r.bounded {
			most = r.size()
		}
		r.mu.Lock()
		n, over := r.board.room(r.moment(now()), most)
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

// size returns the number of tasks of the default cost that may run at once, at least 1.
func (r *run) size() int64 {
	least := int64(math.MaxInt64)
	for name, each := range r.conf.Cost {
		if each > 0 {
			least = min(least, given(r.conf.Capacity.Resource(name))/each)
		}
	}
	return max(least, 1)
}

// claim asks the source for tasks. A panic of the source is an error. The source may hand on tasks
// and return an error too. over reports whether the error says that the source has ended.
func (r *run) claim(room int, handOn func(Delivery)) (over bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			over, err = false, fmt.Errorf("Claim: %w", &PanicError{p, debug.Stack()})
		}
	}()
	err = r.conf.Source.Claim(r.claims, room, handOn)
	return errors.Is(err, io.EOF), err
}

func (r *run) add(claimed []Delivery) {
	if len(claimed) == 0 {
		return
	}
	items := make([]item, len(claimed))
	for i, d := range claimed {
		items[i].fault = r.prepare(&items[i], d)
	}
	r.update(func(b *board, m moment, fx *effects) { b.add(items, m, fx) })
}

// prepare makes an item of a claimed task, or says why it can never run.
func (r *run) prepare(it *item, d Delivery) (err error) {
	it.Task, it.run, it.Context, it.delivered = d.Task, r, r.ctx, max(d.Attempt, 0)
	if d.Lease != nil {
		ctx, cancel := context.WithCancelCause(r.ctx)
		it.Context = ctx
		it.lease = &lease{Lease: d.Lease, length: min(d.LeaseTime, maxLong), lose: cancel}
		it.lease.hold(r.leases)
	}
	it.request = r.cost
	if err := it.check(); err != nil {
		return err
	}
	if most := r.conf.MaxAttempts; most > 0 && d.Attempt > most {
		return fmt.Errorf("%w: for the time %d, where MaxAttempts is %d", ErrAttempts, d.Attempt, most)
	}
	if it.Cost != nil {
		it.request, err = r.conf.Capacity.Request(it.Cost)
	}
	return err
}
