package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weir-go/weir/cmd/weir/internal/chart"
)

// plotFlag is the name of a file that a chart is drawn to; empty: none.
type plotFlag string

func (p *plotFlag) UnmarshalText(text []byte) error {
	if filepath.Ext(string(text)) != ".svg" {
		return fmt.Errorf("%q: want a file that ends in .svg", text)
	}
	*p = plotFlag(text)
	return nil
}

// check looks for the folder before anything is simulated, which may take minutes.
func (p plotFlag) check() error {
	if p == "" {
		return nil
	}
	folder := filepath.Dir(string(p))
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("--plot: %q is no folder: want one that exists", folder)}
	}
	return nil
}

func (p plotFlag) draw(c *chart.Chart) error {
	var drawn bytes.Buffer
	if _, err := c.WriteTo(&drawn); err != nil {
		return err
	}
	return os.WriteFile(string(p), drawn.Bytes(), 0o644) //nolint:gosec // others may look at a picture
}
