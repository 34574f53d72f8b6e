package main

import (
	"context"

	"github.com/weir-go/weir/internal/browser"
	"github.com/weir-go/weir/internal/playground/page"
)

// simServeCommand has no flags.
type simServeCommand struct{}

// Run shows the playground in a browser until ctx ends.
func (simServeCommand) Run(ctx context.Context, s streams, env environ) error {
	_, end, err := browser.Show(ctx, "playground", page.New(), env.get("BROWSER"), s.err)
	if err != nil {
		return err
	}
	defer end()
	<-ctx.Done()
	return nil
}
