package rpc

import (
	"context"
	"sync"

	"github.com/weir-go/weir"
)

// A Turn is the slot of the message that a stream is working on, if there is one. Its methods are safe for concurrent
// use, as one goroutine may receive while another sends. The zero Turn holds no slot.
type Turn struct {
	mu     sync.Mutex
	permit *weir.Permit
	ended  bool
}

// Take waits for a slot for the next message. What the turn holds is given back first, and teaches nothing.
func (t *Turn) Take(ctx context.Context, admitter weir.Admitter) (err error) {
	t.Give(weir.Ignore)
	var permit weir.Permit
	if permit, err = admitter.Acquire(ctx); err != nil {
		return err
	}
	if !t.hold(&permit) {
		permit.Release()
	}
	return nil
}

// hold keeps the permit, unless the stream ended meanwhile.
func (t *Turn) hold(permit *weir.Permit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.permit = permit
	}
	return !t.ended
}

// Give gives the slot back, if the turn holds one.
func (t *Turn) Give(o weir.Outcome) {
	if permit := t.drop(false); permit != nil {
		permit.Finish(o)
	}
}

// End is Give for the end of the stream: from now on the turn holds no slot.
func (t *Turn) End(o weir.Outcome) {
	if permit := t.drop(true); permit != nil {
		permit.Finish(o)
	}
}

func (t *Turn) drop(ended bool) *weir.Permit {
	t.mu.Lock()
	defer t.mu.Unlock()
	permit := t.permit
	t.permit, t.ended = nil, t.ended || ended
	return permit
}
