//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package natspool_test

import (
	"encoding/json"
	"net"
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
	address := second.JetStream().Conn().ConnectedAddr()
	if !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("it listens on %s", address)
	}
	if conn, err := nats.Connect(address); err == nil {
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
}

// TestFolderAfterThePowerFailed: the file by which processes find the server may be empty.
func TestFolderAfterThePowerFailed(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "access.json"), nil, 0o600))
	first, second := local(t, dir), local(t, dir)
	add(t, queue(t, first, natspool.Config{Stream: "mail"}), "one")
	if s := snapshot(t, queue(t, second, natspool.Config{Stream: "mail"})); s.Waiting != 1 {
		t.Errorf("the second sees %+v", s)
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

// TestServerEnds: another process of the folder takes its server over, and a third one finds it,
// although a program has taken the port.
func TestServerEnds(t *testing.T) {
	dir := t.TempDir()
	first := must.Have(natspool.Open(t.Context(), dir))(t)
	q := queue(t, local(t, dir), natspool.Config{Stream: "mail"})
	third := queue(t, local(t, dir), natspool.Config{Stream: "mail"})
	add(t, q, "one")
	var runs []string
	each(t, newPool(t, q, 4, pool.Config{}), func(ev pool.Event) bool {
		runs = append(runs, ev.Key)
		if ev.Key == "one" {
			takePort(t, dir)
			must.Do(t, first.Close())
			eventually(t, func() (bool, error) { return true, third.Add(t.Context(), "two", nil) })
		}
		return ev.Key != "two"
	})
	if len(runs) != 2 {
		t.Errorf("ran %q", runs)
	}
}

// takePort has another program listen where the server of a folder would start anew.
func takePort(t *testing.T, dir string) {
	t.Helper()
	other := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = other.Close() })
	file := filepath.Join(dir, "access.json")
	var access map[string]any
	must.Do(t, json.Unmarshal(must.Have(os.ReadFile(file))(t), &access))
	access["port"] = other.Addr().(*net.TCPAddr).Port
	must.Do(t, os.WriteFile(file, must.Have(json.Marshal(access))(t), 0o600))
}
