package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weir-go/weir/cmd/weir/internal/chart"
	"github.com/weir-go/weir/cmd/weir/internal/paths"
)

// plotFlag is the name of the file to draw a chart to; empty means no chart.
type plotFlag string

func (p *plotFlag) UnmarshalText(text []byte) error {
	if filepath.Ext(string(text)) != ".svg" {
		return fmt.Errorf("%q: want a file that ends in .svg", text)
	}
	*p = plotFlag(text)
	return nil
}

// check checks that the file can be opened before a simulation that may take minutes. It
// leaves the file unchanged.
func (p plotFlag) check() error {
	if p == "" {
		return nil
	}
	name := string(p)
	folder := filepath.Dir(name)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("--plot: %q is no folder: want one that exists", folder)}
	}
	_, missing := os.Stat(name)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // others may look at a picture
	if err != nil {
		return usageError{fmt.Errorf("--plot: %q cannot be written: %w: want a file in a folder where you may write", name, paths.Cause(err))}
	}
	if missing != nil {
		_ = os.Remove(name)
	}
	return file.Close()
}

func (p plotFlag) draw(c *chart.Chart) error {
	var drawn bytes.Buffer
	if _, err := c.WriteTo(&drawn); err != nil {
		return err
	}
	return os.WriteFile(string(p), drawn.Bytes(), 0o644) //nolint:gosec // others may look at a picture
}
