package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

// A companion is a separate command that weir starts, because its dependencies are too heavy
// for most users: docs/decisions/0019.
type companion struct {
	name string
	path string // found by find
}

// find looks for the command beside weir and then on the PATH.
func find(name string) (companion, error) {
	var dirs []string
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
	}
	for _, dir := range append(dirs, filepath.SplitList(os.Getenv("PATH"))...) {
		if !filepath.IsAbs(dir) { // like os/exec, do not run a program from the working directory
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return companion{name, path}, nil
		}
	}
	return companion{}, fmt.Errorf("%s is not installed: want it beside weir or on the PATH: "+
		"go install github.com/weir-go/weir/cmd/%s@%s, or in a checkout: scripts/all go install ./cmd/%s", name, name, release(), name)
}

// release is the version to install: weir's own version if it was released.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") && !strings.ContainsAny(info.Main.Version, "-+") {
		return info.Main.Version
	}
	return "latest"
}

// grace is how long an interrupted companion has to exit.
const grace = 5 * time.Second

// run starts the companion and waits for it; the end of ctx interrupts it. The companion
// prints its own errors, so the returned error carries only its status.
func (c companion) run(ctx context.Context, in io.Reader, s streams, args ...string) error {
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, s.out, s.err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	if ended := new(exec.ExitError); errors.As(err, &ended) && ended.Exited() {
		return saidError(ended.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// A saidError is the exit status of a companion that has printed its own error.
type saidError int

func (e saidError) Error() string {
	return fmt.Sprintf("a command that weir started ended with status %d", int(e))
}
