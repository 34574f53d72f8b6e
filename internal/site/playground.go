package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/weir-go/weir/internal/playground"
)

// writePlayground writes uPlot and the simulator, compiled for browsers, for the page of the
// simulator.
func (s *site) writePlayground(out string) error {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	for _, from := range []string{
		filepath.Join(s.root, "dash/assets/uPlot.iife.min.js"), filepath.Join(s.root, "dash/assets/uPlot.min.css"),
		filepath.Join(strings.TrimSpace(string(goroot)), "lib/wasm/wasm_exec.js"),
	} {
		if err := copyFile(filepath.Join(out, filepath.Base(from)), from); err != nil {
			return err
		}
	}
	if err := writeFile(filepath.Join(out, "scenarios.json"), playground.Scenarios()); err != nil {
		return err
	}
	program, err := filepath.Abs(filepath.Join(out, "weir.wasm"))
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./internal/playground/wasm")
	build.Dir = s.root
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the simulator for browsers: %w: %s", err, said)
	}
	return nil
}
