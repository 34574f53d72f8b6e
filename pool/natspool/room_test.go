//go:build linux

package natspool_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// TestFullDisk: a disk that is full takes no more jobs, and loses none. One that fails for good
// comes back until there is room among the dead letters. A folder without room to open its stream
// says so.
func TestFullDisk(t *testing.T) {
	longtest.Skip(t)
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("needs the right to mount a small disk: %v", err)
	}
	t.Cleanup(func() { must.Do(t, syscall.Unmount(disk, 0)) })
	dir := filepath.Join(disk, "q")
	n := fillUp(t, dir)
	if n < 100 {
		t.Fatalf("a disk of 40 MB has room for %d jobs of 100 kB", n)
	}
	pad := filepath.Join(disk, "pad")
	f := must.Have(os.Create(pad))(t)
	for _, err := f.Write(make([]byte, 1<<20)); err == nil; _, err = f.Write(make([]byte, 1<<20)) {
	}
	must.Do(t, f.Close())
	if _, err := natspool.Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "0 MB of its disk are free: want at least 8") {
		t.Errorf("%v", err)
	}
	must.Do(t, os.Remove(pad))
	q := queue(t, local(t, dir), natspool.Config{Stream: "mail", Lease: time.Second})
	tried := make(chan struct{}) // the one that fails was
	ends := sync.OnceFunc(func() { close(tried) })
	ran, refused, dead := map[string]bool{}, false, false
	each(t, newPool(t, q, 4, pool.Config{Source: q.Source(firstFails(tried))}), func(ev pool.Event) bool {
		switch ev.Kind {
		case pool.Done:
			ran[ev.Key] = true
		case pool.Failed:
			ends()
			dead = dead || ev.Rejected
			refused = refused || strings.Contains(ev.Err.Error(), "; not rejected: ") && strings.Contains(ev.Err.Error(), "insufficient resources")
		}
		return len(ran) < n-1 || !dead
	})
	if !refused {
		t.Error("a full disk takes a dead letter")
	}
	if s := snapshot(t, q); s.Dead != 1 {
		t.Errorf("%d dead letters, want one", s.Dead)
	}
}

// firstFails has the job 0 fail for good, and the others succeed once it was tried.
func firstFails(tried <-chan struct{}) func(natspool.Job) pool.Task {
	return func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(ctx context.Context) (any, error) {
			if j.ID == "0" {
				return nil, pool.Permanent(errJob)
			}
			select {
			case <-tried:
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
	}
}

// fillUp adds jobs to a folder until it takes no more, and returns how many it took.
func fillUp(t *testing.T, dir string) (n int) {
	t.Helper()
	l := must.Have(natspool.Open(t.Context(), dir))(t)
	defer func() { must.Do(t, l.Close()) }()
	q := queue(t, l, natspool.Config{Stream: "mail"})
	payload := bytes.Repeat([]byte("x"), 100_000)
	for {
		err := q.Add(t.Context(), fmt.Sprint(n), payload)
		if err != nil {
			if !strings.Contains(err.Error(), "insufficient resources") {
				t.Error(err)
			}
			return n
		}
		n++
	}
}
