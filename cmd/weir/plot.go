package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/weir-go/weir/internal/chart"
)

// plotFlag is the name of a file that a chart is drawn to; empty: none.
type plotFlag string

func (p *plotFlag) UnmarshalText(text []byte) error {
	if !slices.Contains(chart.Formats, filepath.Ext(string(text))) {
		return fmt.Errorf("%q: want a file that ends in .svg or .png", text)
	}
	*p = plotFlag(text)
	return nil
}

// A drawing is a file with the command that draws to it. That is found before anything is
// simulated, which may take minutes.
type drawing struct {
	file string
	by   companion
}

// drawing returns nil if none is wanted.
func (p plotFlag) drawing() (*drawing, error) {
	if p == "" {
		return nil, nil
	}
	by, err := find("weir-plot")
	if err != nil {
		return nil, fmt.Errorf("--plot: %w", err)
	}
	return &drawing{string(p), by}, nil
}

func (d *drawing) draw(ctx context.Context, s streams, c *chart.Chart) error {
	var text bytes.Buffer
	if err := c.Write(&text); err != nil {
		return err
	}
	return d.by.run(ctx, &text, s, d.file)
}
