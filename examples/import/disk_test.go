package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// TestFullDisk imports until the disk is full. It runs in a process of its own because
// Badger on a full disk may get SIGBUS.
func TestFullDisk(t *testing.T) {
	longtest.Skip(t)
	const n = 30_000
	disk := importtest.SmallDisk(t, 152) // Space keeps 132 of them free
	store := filepath.Join(disk, "store")
	file := source(t, n) // 33 MB
	load := func() (said string, err error) {
		c := self(t, importing, "-store", store, "-target", "256", file)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		must.Do(t, c.Start())
		stuck := time.AfterFunc(10*time.Minute, func() { _ = c.Process.Kill() })
		defer stuck.Stop()
		err = c.Wait()
		return out.String(), err
	}
	began := time.Now()
	said, err := load()
	t.Logf("after %v: %s", time.Since(began), said)
	if err == nil || !strings.Contains(said, "stopped at line ") || !strings.Contains(said, syscall.ENOSPC.Error()) || strings.Contains(said, "goroutine ") {
		t.Fatalf("a disk that becomes full: %v: %s", err, said)
	}
	acknowledged := importtest.Acknowledged(t, store+".journal")
	if said, err = load(); err == nil || !strings.Contains(said, syscall.ENOSPC.Error()) || strings.Contains(said, "goroutine ") {
		t.Errorf("a disk that is full: %v: %s", err, said)
	}
	inStore(t, store, acknowledged)

	if out, err := exec.Command("mount", "-o", "remount,size=1g", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if said, err = load(); err != nil {
		t.Fatalf("with space again: %v: %s", err, said)
	}
	if keys := inStore(t, store, n); acknowledged == 0 || keys != n-n/badEvery {
		t.Errorf("%d records, of which %d were in before, want %d", keys, acknowledged, n-n/badEvery)
	}
}
