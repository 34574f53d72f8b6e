package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weir-go/weir/internal/handover"
)

// weir hands the commands about jobs over to weir-work, whose queue needs a server of NATS.

type workCommand struct{ handover.Work }

type enqueueCommand struct{ handover.Enqueue }

type jobsCommand struct {
	List    listCommand    `cmd:"" default:"withargs" help:"Count the jobs that wait and run, and list the dead letters (the default)."`
	Requeue requeueCommand `cmd:"" help:"Try dead letters again."`
}

type listCommand struct{ handover.Jobs }

type requeueCommand struct{ handover.Requeue }

// Run starts a worker.
func (c workCommand) Run(ctx context.Context, s streams) error {
	if len(c.Command) > 0 && strings.HasPrefix(c.Command[0], "-") {
		if c.Command[0] != "--" {
			return usageError{fmt.Errorf("unknown flag %s: see weir work --help", c.Command[0])}
		}
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return usageError{errors.New("no command: want one after --, as in weir work --stream mails -- ./send-mail")}
	}
	return handOver(ctx, s, handover.Request{Work: &c.Work})
}

// Run adds jobs.
func (c enqueueCommand) Run(ctx context.Context, s streams) error {
	if c.Lines && len(c.Payload) > 0 {
		return usageError{errors.New("--lines and payloads: want either of them")}
	}
	return handOver(ctx, s, handover.Request{Enqueue: &c.Enqueue})
}

// Run shows jobs.
func (c listCommand) Run(ctx context.Context, s streams) error {
	return handOver(ctx, s, handover.Request{Jobs: &c.Jobs})
}

// Run requeues dead letters.
func (c requeueCommand) Run(ctx context.Context, s streams) error {
	if c.All == (len(c.ID) > 0) {
		return usageError{errors.New("want either the dead letters to requeue, as weir jobs lists them, or --all")}
	}
	return handOver(ctx, s, handover.Request{Requeue: &c.Requeue})
}

// handOver hands a request over to weir-work, which replaces this process where the system can do
// that.
func handOver(ctx context.Context, s streams, r handover.Request) error {
	program, err := find("weir-work")
	if err != nil {
		return err
	}
	variable, err := r.Encode()
	if err != nil {
		return err
	}
	program.env = []string{variable}
	return program.become(ctx, s.unwatched())
}
