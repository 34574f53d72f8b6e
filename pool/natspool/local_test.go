//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package natspool_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// TestFolderHasOneServer: the first to open it runs the server, the second finds it, and a stranger
// does not get in.
func TestFolderHasOneServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	first, second := local(t, dir), local(t, dir)
	must.Do(t, queue(t, first, natspool.Config{Stream: "mail"}).Add(t.Context(), "", []byte("a")))
	if s := snapshot(t, queue(t, second, natspool.Config{Stream: "mail"})); s.Waiting != 1 {
		t.Errorf("the second sees %+v", s)
	}
	url := first.JetStream().Conn().ConnectedUrl()
	if !strings.HasPrefix(second.JetStream().Conn().ConnectedAddr(), "127.0.0.1:") {
		t.Errorf("it listens on %s", second.JetStream().Conn().ConnectedAddr())
	}
	if conn, err := nats.Connect(url); err == nil {
		conn.Close()
		t.Error("it lets in a stranger without the token")
	}
	info, err := os.Stat(filepath.Join(dir, "access.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the token: %v, %v", info.Mode(), err)
	}
}

func TestFolderThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	if _, err := natspool.Open(t.Context(), file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v, want one that names the folder", err)
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "access.json"), []byte("{"), 0o600))
	if _, err := natspool.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "access.json") {
		t.Errorf("%v, want one that names the file", err)
	}
}

// TestFolderIsFreeAgain: a process that finds the folder locked, and no server, gets it once the
// other has ended.
func TestFolderIsFreeAgain(t *testing.T) {
	dir := t.TempDir()
	lock := must.Have(os.Create(filepath.Join(dir, "lock")))(t)
	must.Do(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	began := time.Now()
	time.AfterFunc(300*time.Millisecond, func() { _ = lock.Close() })
	l := local(t, dir)
	if l.JetStream() == nil || time.Since(began) < 300*time.Millisecond {
		t.Errorf("opened after %v, while another had it", time.Since(began))
	}
}

// TestServerComesBack: a worker waits while the process with the server is gone, says so once, and
// goes on when another opens the folder.
func TestServerComesBack(t *testing.T) {
	dir := t.TempDir()
	first := must.Have(natspool.Open(t.Context(), dir))(t)
	heard := make(chan error, 10)
	q := queue(t, local(t, dir), natspool.Config{
		Stream: "mail", Waiting: func(err error) { heard <- err },
	})
	add(t, q, "one")
	var third *natspool.Local
	runs := []string{}
	for ev, err := range newPool(t, q, 4, pool.Config{}).Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if runs = append(runs, ev.Key); ev.Key == "one" {
			_ = first.Close()
			if err := <-heard; err == nil || !strings.Contains(err.Error(), "the stream mail waits for NATS") {
				t.Errorf("Waiting hears %v", err)
			}
			third = local(t, dir)
			if err := <-heard; err != nil {
				t.Errorf("Waiting hears %v, want that it is over", err)
			}
			add(t, queue(t, third, natspool.Config{Stream: "mail"}), "two")
		}
		if ev.Key == "two" {
			break
		}
	}
	if len(runs) != 2 || len(heard) != 0 {
		t.Errorf("ran %q, and Waiting hears %d more", runs, len(heard))
	}
}
