//go:build unix

package natspool_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// serverDir is, in the environment of a process, the folder whose server it runs.
const serverDir = "NATSPOOL_SERVER"

// hold opens a folder and runs its server until it is killed or its input ends.
func hold(dir string) {
	if _, err := natspool.Open(context.Background(), dir); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// holder starts a process that holds a folder.
func holder(t *testing.T, dir string) *os.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0]) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), serverDir+"="+dir)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // which ends with this process
		t.Fatal(err)
	}
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, func() (os.FileInfo, error) { return os.Stat(dir + "/access.json") })
	return cmd.Process
}

// TestSilentServer: a pool hears soon of a server that answers nothing, as when its machine is
// gone. It continues when the server does.
func TestSilentServer(t *testing.T) {
	longtest.Skip(t)
	dir := t.TempDir()
	server := holder(t, dir)
	heard := make(chan error, 10)
	q := queue(t, local(t, dir), natspool.Config{Stream: "mail", Waiting: func(err error) { heard <- err }})
	add(t, q, "one")
	each(t, newPool(t, q, 4, pool.Config{}), func(ev pool.Event) bool {
		if ev.Key == "two" {
			return false
		}
		began := time.Now()
		must.Do(t, server.Signal(syscall.SIGSTOP))
		if err := hear(t, heard, 20*time.Second); err == nil || !strings.Contains(err.Error(), "the stream mail waits for NATS") {
			t.Errorf("Waiting hears %v", err)
		}
		t.Logf("Waiting hears of it after %v", time.Since(began).Round(time.Millisecond))
		must.Do(t, server.Signal(syscall.SIGCONT))
		if err := hear(t, heard, 30*time.Second); err != nil {
			t.Errorf("Waiting hears %v, want that it is over", err)
		}
		add(t, q, "two")
		return true
	})
}

func hear(t *testing.T, heard <-chan error, within time.Duration) error {
	t.Helper()
	select {
	case err := <-heard:
		return err
	case <-time.After(within):
		t.Fatalf("Waiting hears nothing for %v", within)
		return nil
	}
}
