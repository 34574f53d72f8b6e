package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir-work/internal/command"
	"github.com/weir-go/weir/cmd/weir-work/internal/worker"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/browser"
	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// toSettle is how long an attempt that was cut short has to give its job back.
const toSettle = 10 * time.Second

// work runs a command for each job.
func work(ctx context.Context, stop <-chan struct{}, w handover.Work, s streams) error {
	path, err := exec.LookPath(w.Command[0])
	if err != nil {
		return usageError{fmt.Errorf("%w: want a command that can be run", err)}
	}
	guard, err := command.StartGuard(asGuard)
	if err != nil {
		return err
	}
	defer func() { _ = guard.Close() }()
	var trouble atomic.Pointer[error]
	q, err := open(ctx, w.Queue, func(err error) { trouble.Store(&err) })
	if err != nil {
		return err
	}
	defer q.close()
	c := command.Command{Args: append([]string{path}, w.Command[1:]...), Timeout: w.Timeout, Grace: w.Grace, Guard: guard}
	var shown dashboard
	defer shown.close()
	return worker.Run(ctx, worker.Config{
		Look: func(p *pool.Pool) error {
			if !w.Open {
				return nil
			}
			return shown.open(ctx, p, w.Stream, s.err)
		},
		Source: q.Source(func(j natspool.Job) pool.Task { return task(c, j) }),
		Out:    s.out, Notes: s.err,
		Max: int64(w.Max), Attempts: w.Attempts, Backoff: w.Backoff, Grace: w.Grace + toSettle, Stop: stop,
		Trouble: func() error {
			if err := trouble.Load(); err != nil {
				return *err
			}
			return nil
		},
	})
}

// A dashboard shows a pool in the user's browser until it is closed.
type dashboard struct{ end func() } // nil while it shows none

func (d *dashboard) open(ctx context.Context, p *pool.Pool, name string, messages io.Writer) error {
	page, err := dash.New(dash.Config{Pools: map[string]*pool.Pool{name: p}, Public: true})
	if err != nil {
		return err
	}
	_, d.end, err = browser.Show(ctx, page, messages)
	return err
}

func (d *dashboard) close() {
	if d.end != nil {
		d.end()
	}
}

func task(c command.Command, j natspool.Job) pool.Task {
	return pool.Task{Run: func(ctx context.Context) (any, error) {
		return nil, c.Run(ctx, command.Job{ID: j.ID, Attempt: j.Attempt, Payload: j.Data})
	}}
}
