package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weir-go/weir/cmd/weir/internal/chart"
	"github.com/weir-go/weir/cmd/weir/internal/paths"
)

// checkPlot checks that the file can be written before a simulation that may take minutes. It
// leaves the file unchanged.
func checkPlot(name string) error {
	if name == "" {
		return nil
	}
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

func plot(c *chart.Chart, name string) error {
	var drawn bytes.Buffer
	if _, err := c.WriteTo(&drawn); err != nil {
		return err
	}
	return os.WriteFile(name, drawn.Bytes(), 0o644) //nolint:gosec // others may look at a picture
}
