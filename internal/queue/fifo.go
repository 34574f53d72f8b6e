package queue

import "github.com/weir-go/weir/internal/reply"

// FIFO serves first in, first out. The newest waiter gives way.
const FIFO Order = 0

type fifo struct{}

func (fifo) screen(w *Waiter, o outlook) reply.Verdict {
	switch {
	case w.HasDeadline() && o.now+o.wait+o.service > w.Deadline:
		return reply.Deadline
	case o.now+o.pace >= w.expires:
		return reply.Paced // its time would be up before it is served
	}
	return reply.Waiting
}

func (fifo) next(l line, _ int64) *Waiter { return l.oldest() }

func (fifo) yields(l line) *Waiter { return l.newest }

func (fifo) gaveWay(*Waiter, int64) {}

func (fifo) late([]lane, int64) *Waiter { return nil }

func (fifo) added(*Waiter) {}

func (fifo) removed(*Waiter) {}
