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
	path string   // found by find
	env  []string // besides the environment of weir
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
			return companion{name: name, path: path}, nil
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

func (c companion) command(ctx context.Context, s streams, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = s.out, s.err
	cmd.WaitDelay = grace
	return cmd
}

// run starts the companion and waits for it; the end of ctx interrupts it. The companion
// prints its own errors, so the returned error carries only its status.
func (c companion) run(ctx context.Context, in io.Reader, s streams, args ...string) error {
	cmd := c.command(ctx, s, args...)
	cmd.Stdin = in
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err := cmd.Run()
	if ended := new(exec.ExitError); errors.As(err, &ended) && ended.Exited() {
		return saidError(ended.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// become replaces the process of weir by the companion, where the system can do that. A single
// process then gets each signal once, and may end as late as it wants.
func (c companion) become(ctx context.Context, s streams) error {
	if s.out == os.Stdout && s.err == os.Stderr {
		if err := replace(c.path, []string{c.name}, append(os.Environ(), c.env...)); !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("%s: %w", c.path, err)
		}
	}
	return c.run(ctx, os.Stdin, s)
}

// A saidError is the exit status of a companion that has printed its own error.
type saidError int

func (e saidError) Error() string {
	return fmt.Sprintf("a command that weir started ended with status %d", int(e))
}
