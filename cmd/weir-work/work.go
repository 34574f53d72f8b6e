package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/weir-go/weir/capacity"
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
	q, err := open(ctx, wanted{Queue: w.Queue, waiting: func(err error) {
		text := "the source is back"
		if err != nil {
			text = err.Error()
		}
		worker.Note(s.err, text)
	}})
	if err != nil {
		return err
	}
	defer q.close()
	c := command.Command{Args: append([]string{path}, w.Command[1:]...), Timeout: w.Timeout, Grace: w.Grace, Guard: guard}
	p, err := newPool(q.Source(func(j natspool.Job) pool.Task { return task(c, j) }), w)
	if err != nil {
		return err
	}
	if w.Open {
		page, err := dash.New(dash.Config{Pools: map[string]*pool.Pool{w.Stream: p}, Public: true})
		if err != nil {
			return err
		}
		_, end, err := browser.Show(ctx, page, s.err)
		if err != nil {
			return err
		}
		defer end()
	}
	return worker.Run(ctx, p, worker.Config{Out: s.out, Notes: s.err, Max: int64(w.Max), Stop: stop})
}

// lookahead is the number of jobs that are claimed ahead of their start. It is small, because
// another process could start these jobs sooner, and a command takes longer than a claim.
const lookahead = 4

// newPool returns a pool whose number of running jobs a law finds.
func newPool(source pool.Source, w handover.Work) (*pool.Pool, error) {
	slots, err := capacity.New(capacity.Vector{"jobs": int64(w.Max)})
	if err != nil {
		return nil, err
	}
	return pool.New(pool.Config{
		Capacity: slots, Source: source, Scaler: pool.ByLaw{},
		MaxAttempts: w.Attempts, Redeliver: w.Backoff, Grace: w.Grace + toSettle,
		Lookahead: lookahead,
	})
}

func task(c command.Command, j natspool.Job) pool.Task {
	return pool.Task{Key: j.ID, Run: func(ctx context.Context) (any, error) {
		return nil, c.Run(ctx, command.Job{ID: j.ID, Attempt: j.Attempt, Payload: j.Data})
	}}
}
