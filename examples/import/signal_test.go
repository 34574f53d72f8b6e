package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/must"
)

const (
	asksAgain = 50 * time.Millisecond
	patience  = time.Minute // for a busy machine
)

// TestToldToEnd sends SIGTERM to an import while its source hangs, as a container runtime
// does.
func TestToldToEnd(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	c := self(t, importing, "-store", store, "-target", "64", "-")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := start(t, c)
	must.Have(in.Write([]byte("{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":")))(t)
	tick := time.NewTicker(asksAgain)
	defer tick.Stop()
	for importtest.Acknowledged(t, store+".journal") < 2 {
		select {
		case <-tick.C:
		case err := <-ended:
			t.Fatalf("%v: %s", err, &out)
		}
	}
	must.Do(t, c.Process.Signal(syscall.SIGTERM))
	err = <-ended
	if said := out.String(); err == nil || !strings.Contains(said, "2 lines are in, 0 of them rejected\n") || !strings.Contains(said, "terminated signal received") {
		t.Errorf("%v: %s", err, said)
	}
}

// TestInterruptedBeforeItReads interrupts an import whose file is a pipe without a writer:
// opening the pipe blocks and ignores the context.
func TestInterruptedBeforeItReads(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("needs a named pipe: %v: %s", err, out)
	}
	c := self(t, importing, "-store", filepath.Join(dir, "store"), pipe)
	ended := start(t, c)
	tick := time.NewTicker(asksAgain)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = c.Process.Signal(os.Interrupt)
		case err := <-ended:
			if err == nil || strings.Contains(err.Error(), "killed") {
				t.Errorf("it ended with %v: want an interrupt", err)
			}
			return
		}
	}
}

// start starts a command and returns a channel with its exit error. It kills a command that
// is stuck.
func start(t *testing.T, c *exec.Cmd) <-chan error {
	t.Helper()
	must.Do(t, c.Start())
	stuck := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		stuck.Stop()
	}()
	return ended
}

func TestHelpIsNoFailure(t *testing.T) {
	if out, err := self(t, importing, "-h").CombinedOutput(); err != nil || strings.Contains(string(out), "flag:") || !strings.Contains(string(out), "memory in MiB") {
		t.Errorf("%v: %s", err, out)
	}
}
