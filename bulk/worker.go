package bulk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/throttle"
)

const leastRetry, mostRetry = 10 * time.Millisecond, time.Second // after a refusal of the throttle

// write is a worker.
func (r *run) write() {
	for {
		select {
		case p, more := <-r.work:
			if !more {
				return
			}
			r.writeOne(p)
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *run) writeOne(p *pending) {
	defer func() { p.hold.Release() }() // not its present hold: a rejected line hands it on
	permit, err := r.pace()
	if err != nil {
		r.stop(fmt.Errorf("bulk: stopped before line %d, byte %d: %w", p.Lines, p.Last, err))
		return
	}
	defer permit.Release() // where Write ends the goroutine
	returned := false
	defer func() {
		if !returned {
			r.broke(p, permit, recover())
		}
	}()
	err = r.conf.Write(r.ctx, Line{Number: p.Lines, Offset: p.Last, Text: p.text})
	switch {
	case err == nil:
		permit.Done(nil)
		r.lines.Add(1)
		r.window.acknowledge(p, nil)
	case errors.Is(err, ErrRejected) && r.ctx.Err() == nil: // otherwise the end may be the reason
		r.reject(p, err)
	default:
		permit.Done(err)
		r.stop(fmt.Errorf("bulk: stopped at line %d, byte %d: %w", p.Lines, p.Last, err))
	}
	returned = true
}

// broke stops the import because Write, or a method of its error, panicked or ended the goroutine.
func (r *run) broke(p *pending, permit weir.Permit, panicked any) {
	how := fmt.Errorf("the worker %w", isolate.ErrExited)
	if panicked != nil {
		permit.Finish(weir.Failure)
		how = fmt.Errorf("panicked in Write: %v", panicked)
	}
	r.stop(fmt.Errorf("bulk: stopped at line %d, byte %d: %w", p.Lines, p.Last, how))
}

// pace waits for the throttle, and retries after a refusal.
func (r *run) pace() (weir.Permit, error) {
	if r.conf.Throttle == nil {
		return weir.Permit{}, nil
	}
	r.throttled.Start()
	defer r.throttled.Stop()
	for {
		permit, err := r.conf.Throttle.Acquire(r.ctx, throttle.Write, 1)
		refused, ok := errors.AsType[*weir.RefusedError](err)
		if !ok || refused.Reason == weir.ReasonClosed {
			return permit, err
		}
		select {
		case <-time.After(min(max(refused.RetryAfter, leastRetry), mostRetry)):
		case <-r.ctx.Done():
			return weir.Permit{}, context.Cause(r.ctx)
		}
	}
}

// reject rejects a line, which stops the import if there is no file to keep it.
func (r *run) reject(p *pending, why error) {
	if r.rejects.file == nil {
		r.stop(fmt.Errorf("%w: line %d, byte %d: %w: set Config.Rejects to keep it and go on", ErrRejected, p.Lines, p.Last, why))
		return
	}
	r.lines.Add(1)
	r.rejected.Add(1)
	r.window.acknowledge(p, p.rejection(why))
}
