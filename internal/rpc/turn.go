package rpc

import (
	"context"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/deadline"
)

// A Turn is the slot of the message that a stream is working on, if there is one. Its methods
// are safe for concurrent use: one goroutine may receive while another sends. The zero Turn
// holds no slot.
type Turn struct {
	mu     sync.Mutex
	permit weir.Permit // zero without a slot
	ended  bool
}

// Take waits for a slot for the next message. It first gives back the slot that the turn holds,
// with the outcome Ignore.
func (t *Turn) Take(ctx context.Context, admitter weir.Admitter) error {
	t.Give(weir.Ignore)
	permit, err := admitter.Acquire(deadline.Stranger(ctx)) // the deadline is for the whole stream
	if !t.hold(permit) {
		permit.Release() // does nothing if the work was refused
	}
	return err
}

// hold keeps the permit, unless the stream has ended.
func (t *Turn) hold(permit weir.Permit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.permit = permit
	}
	return !t.ended
}

// Give gives the slot back, if the turn holds one.
func (t *Turn) Give(o weir.Outcome) {
	t.mu.Lock()
	permit := t.permit
	t.mu.Unlock()
	permit.Finish(o) // without the lock, because it may call a hook
}

// Served gives the slot back because the handler continues its stream. The outcome is a success,
// unless the stream's context has ended.
func (t *Turn) Served(ctx context.Context) {
	if ctx.Err() != nil {
		t.Give(edge.ContextOutcome(ctx))
		return
	}
	t.Give(weir.Success)
}

// Run runs the handler of a stream, and ends the turn with the outcome of the handler's error. code
// returns the status code of an error.
func (t *Turn) Run(ctx context.Context, code func(error) Code, handler func() error) (err error) {
	outcome := weir.Failure // if the handler panics, or ends its goroutine
	defer func() { t.End(outcome) }()
	err = handler()
	outcome = OutcomeOnServer(ctx, code(err))
	return err
}

// End is Give for the end of the stream: from now on the turn holds no slot.
func (t *Turn) End(o weir.Outcome) {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.Give(o)
}
