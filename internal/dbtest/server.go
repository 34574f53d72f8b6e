package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A Server is a database server in a process of its own.
type Server struct {
	kind, dir string
	address   string
	ready     func(context.Context) error // whether it answers

	process *exec.Cmd
	exited  chan struct{}
	output  locked.Buffer
}

// patience is the longest time for a server to answer. A JVM on a busy machine is slow.
const patience = 3 * time.Minute

// start starts a server for a test and stops it when the test ends.
func start(t testing.TB, kind string, ready func(ctx context.Context, address string) error) *Server {
	t.Helper()
	longtest.Skip(t)
	dir := must.Have(os.MkdirTemp("", "weir-"+kind+"-"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{kind: kind, dir: dir, address: tcptest.FreeAddress(t)}
	s.ready = func(ctx context.Context) error { return ready(ctx, s.Address()) }
	t.Cleanup(func() { s.Stop(t) })
	must.Do(t, s.run())
	return s
}

// Address returns the host and the port.
func (s *Server) Address() string { return s.address }

// run starts the process and waits until the server answers.
func (s *Server) run() error {
	_, here, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(here), "..", "..", "scripts", "databases")
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	s.process = exec.Command(script, s.kind, s.dir, port)
	s.process.Stdout, s.process.Stderr = &s.output, &s.output
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt goes only to the test, which then stops it
	if err := s.process.Start(); err != nil {
		return err
	}
	s.exited = make(chan struct{})
	go func() { _ = s.process.Wait(); close(s.exited) }()
	return s.await()
}

// await returns when the server answers.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := s.try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("%s ended: %v\n%s", s.kind, s.process.ProcessState, s.output.String())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer after %v: %w\n%s", s.kind, patience, err, s.output.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// try asks once whether the server answers. A starting server may accept a connection and
// not answer.
func (s *Server) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return s.ready(ctx)
}

// Kill ends the server at once, as a crash would. Its data on disk stays.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.signalAll(t, syscall.SIGKILL)
	<-s.exited
}

// Stop ends the server. It may be called again.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if s.exited == nil {
		return
	}
	select {
	case <-s.exited:
		return
	default:
	}
	s.Thaw(t)
	s.signal(t, syscall.SIGINT)
	select {
	case <-s.exited:
	case <-time.After(20 * time.Second):
		s.Kill(t)
	}
}

// Restart starts a server that was stopped or killed, at the same address with the same data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	must.Do(t, s.run())
}

// Freeze stops the server: it accepts connections and does not answer.
func (s *Server) Freeze(t testing.TB) { s.signalAll(t, syscall.SIGSTOP) }

// Thaw undoes Freeze.
func (s *Server) Thaw(t testing.TB) { s.signalAll(t, syscall.SIGCONT) }

// signal sends a signal to the process.
func (s *Server) signal(t testing.TB, what syscall.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(what); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("%s: %v: %v", s.kind, what, err)
	}
}

// signalAll sends a signal to the process and its children: a connection to PostgreSQL has a
// process of its own. Before that it stops the process, so that the process starts no further child
// and has not ended when its children are read.
func (s *Server) signalAll(t testing.TB, what syscall.Signal) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	pid := s.process.Process.Pid
	children := must.Have(os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)))(t)
	for child := range strings.FieldsSeq(string(children)) {
		pid, _ := strconv.Atoi(child)
		_ = syscall.Kill(pid, what) // a process that has just ended is fine too
	}
	s.signal(t, what)
}
