package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

// A Guard is a process that kills the groups of commands when this process dies. A nil Guard
// guards nothing. It is safe for concurrent use.
type Guard struct {
	mu   sync.Mutex
	pipe io.WriteCloser
	cmd  *exec.Cmd
}

// StartGuard starts this program with these arguments. With them the program must call [Watch] on
// its standard input.
func StartGuard(args ...string) (*Guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...) //nolint:gosec // this program
	apart(cmd)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the guard of the commands: %w", err)
	}
	return &Guard{pipe: pipe, cmd: cmd}, nil
}

// Close ends the guard, once no command runs.
func (g *Guard) Close() error {
	g.pipe.Close()
	return g.cmd.Wait()
}

func (g *Guard) watch(group int) error { return g.say("+", group) }

// forget is called when a group has ended. A guard that has ended needs no message.
func (g *Guard) forget(group int) { _ = g.say("-", group) }

func (g *Guard) say(sign string, group int) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := fmt.Fprintf(g.pipe, "%s%d\n", sign, group); err != nil {
		return fmt.Errorf("the guard of the commands has ended: %w", err)
	}
	return nil
}

// Watch does the work of the guard: it reads the process groups that start and end, until its input
// ends. Then it kills the groups that still run. It ignores the signals that end the worker or its
// service.
func Watch(input io.Reader) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	running := map[int]bool{}
	for lines := bufio.NewScanner(input); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		switch {
		case err != nil || n == 0:
		case n > 0: // "+12"
			running[n] = true
		default:
			delete(running, -n)
		}
	}
	for group := range running {
		kill(group)
	}
}
