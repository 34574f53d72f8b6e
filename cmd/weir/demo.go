package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/term"

	"github.com/weir-go/weir/cmd/weir/internal/demo"
)

type demoCommand struct {
	Limit    limitDemo    `cmd:"" default:"withargs" help:"An overloaded server without a limit, with a wrong one, and with an adaptive one (the default)."`
	Bulkhead bulkheadDemo `cmd:"" help:"A fast route beside one that hangs and fails, with and without a bulkhead."`
}

type limitDemo struct {
	Duration time.Duration `type:"span" default:"30s" placeholder:"TIME" help:"How long the load lasts (default ${default})."`
	Open     bool          `help:"Show the limiters live in a browser as well, until Ctrl-C."`
}

type bulkheadDemo struct {
	Duration time.Duration `type:"span" default:"24s" placeholder:"TIME" help:"How long the load lasts (default ${default}). Each burst comes after 3s and lasts 3s."`
	Open     bool          `help:"Show the limiters live in a browser as well, until Ctrl-C."`
}

// Run shows the demonstration.
func (c limitDemo) Run(ctx context.Context, s streams) error {
	return showLoad(ctx, c.Duration, c.Open, s, demo.Run)
}

// Run shows the demonstration.
func (c bulkheadDemo) Run(ctx context.Context, s streams) error {
	return showLoad(ctx, c.Duration, c.Open, s, demo.RunBulkhead)
}

func showLoad(ctx context.Context, duration time.Duration, open bool, s streams, run func(context.Context, demo.Config) error) error {
	if shortest, longest := demo.Shortest, demo.Longest; duration < shortest || duration > longest {
		return usageError{fmt.Errorf("--duration: %v: want %.0fs to %.0fs", duration, shortest.Seconds(), longest.Seconds())}
	}
	return run(ctx, demo.Config{Duration: duration, Out: s.out, Open: open, Err: s.err})
}

func isTerminal(out io.Writer) bool {
	file := fileOf(out)
	return file != nil && term.IsTerminal(int(file.Fd())) //nolint:gosec // a file descriptor is small
}
