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

// A companion is a command of its own that weir starts, because what it needs is too much for
// those who never use it: docs/decisions/0019.
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
		if !filepath.IsAbs(dir) { // as os/exec does: nothing is started because it lies where one works
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return companion{name, path}, nil
		}
	}
	return companion{}, fmt.Errorf("%s is not installed: want it beside weir or on the PATH: "+
		"go install github.com/weir-go/weir/cmd/%s@%s, or in a checkout: scripts/all go install ./cmd/%s", name, name, release(), name)
}

// release is the version to install, that of weir if it was released.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") && !strings.ContainsAny(info.Main.Version, "-+") {
		return info.Main.Version
	}
	return "latest"
}

// grace is how long a companion has to end after it was interrupted.
const grace = 5 * time.Second

// run starts the companion and waits until it ends, which ctx asks for. Its words are enough
// if it fails, so the error has its status and none of its own.
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

// A saidError is the status of a companion that failed and said why.
type saidError int

func (e saidError) Error() string {
	return fmt.Sprintf("a command that weir started ended with status %d", int(e))
}
