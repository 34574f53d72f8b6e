// Package tmux runs programs in a terminal, for tests.
package tmux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience is how long a text may take to be on the screen.
const patience = time.Minute

// A Pane is a terminal of tmux with a program.
type Pane struct {
	t   *testing.T
	env []string
}

// exited says how a command ended. tmux does not always draw that.
const exited = `trap : INT; "$@"; echo "exit status $?"; exec sleep 3600`

// Open runs a command in a terminal of so many columns and rows, until the test ends. The
// environment is added to that of the test. Once the command has ended, the screen has "exit
// status" and a number.
func Open(t *testing.T, columns, rows int, env []string, command ...string) Pane {
	t.Helper()
	p := Pane{t, append(append(os.Environ(), "TMUX_TMPDIR="+t.TempDir(), "TMUX=", "LC_ALL=C.UTF-8"), env...)}
	shell := []string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "sh", "-c", exited, "sh"}
	p.Run(append(shell, command...)...)
	t.Cleanup(func() { p.Run("kill-server") })
	return p
}

// Run runs a command of tmux, and returns what it printed.
func (p Pane) Run(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(p.t.Context()), "tmux", args...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s: run scripts/shells install, if it is missing", args, err, out)
	}
	return string(out)
}

// Until waits until the screen has all texts, and returns its rows.
func (p Pane) Until(texts ...string) []string {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		screen := p.Run("capture-pane", "-p")
		missing := ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("no %q on\n%s", missing, screen)
		}
	}
}
