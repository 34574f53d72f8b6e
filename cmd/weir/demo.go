package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/demo"
)

type demoCommand struct {
	Duration span `default:"30s" placeholder:"TIME" help:"How long the load lasts (default ${default})."`
}

// Run shows the demonstration on the output.
func (c demoCommand) Run(ctx context.Context, s streams, getenv func(string) string) error {
	duration := time.Duration(c.Duration)
	if duration < demo.Shortest || duration > demo.Longest {
		return usageError{fmt.Errorf("--duration: %v: want %.0fs to %.0fs", duration, demo.Shortest.Seconds(), demo.Longest.Seconds())}
	}
	return demo.Run(ctx, demo.Config{Duration: duration, Out: s.out, Color: isTerminal(s.out) && getenv("NO_COLOR") == ""})
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
