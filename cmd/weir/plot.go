package main

import (
	"fmt"
	"os"

	"github.com/weir-go/weir/cmd/weir/internal/paths"
)

// openPlot opens the file of a picture, before a simulation that may take minutes. It leaves the
// file unchanged.
func openPlot(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // others may look at a picture
	if err != nil {
		return nil, usageError{fmt.Errorf("--plot: %q cannot be written: %w: want a file in a folder where you may write", name, paths.Cause(err))}
	}
	return file, nil
}
