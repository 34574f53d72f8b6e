package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// A hardLimit is a control group with a memory limit, which the kernel enforces by killing.
type hardLimit struct {
	dir string
	v1  bool
}

// newHardLimit creates a control group. In version 1 its parent is the group of this
// process; in version 2, where a group with processes cannot have children, its parent is
// the root.
func newHardLimit(t *testing.T, bytes int) hardLimit {
	t.Helper()
	const root = "/sys/fs/cgroup"
	own, v1 := ownMemoryGroup(t)
	h, limit := hardLimit{filepath.Join(root, "weir-import-"+strconv.Itoa(os.Getpid())), false}, "memory.max"
	if v1 {
		h, limit = hardLimit{filepath.Join(root, "memory", own, "weir-import-"+strconv.Itoa(os.Getpid())), true}, "memory.limit_in_bytes"
	}
	if err := os.Mkdir(h.dir, 0o755); err != nil {
		t.Skipf("needs a control group of its own: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(h.dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(h.dir, limit), strconv.AppendInt(nil, int64(bytes), 10), 0); err != nil {
		t.Skipf("needs a control group with a limit of memory: %v", err)
	}
	return h
}

// ownMemoryGroup returns the group of this process in the version 1 memory hierarchy, if
// there is one.
func ownMemoryGroup(t *testing.T) (name string, v1 bool) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), "memory") {
			return fields[2], true
		}
	}
	return "", false
}

// confine makes a command run in the group.
func (h hardLimit) confine(c *exec.Cmd) *exec.Cmd {
	const script = `echo $$ >"$0" && exec "$@"`
	return exec.Command("/bin/sh", append([]string{"-c", script, filepath.Join(h.dir, "cgroup.procs")}, c.Args...)...)
}

// value returns the number for key in a file of the group, or the only number of the file if
// key is "".
func (h hardLimit) value(t *testing.T, file, key string) (value int) {
	t.Helper()
	text := must.Have(os.ReadFile(filepath.Join(h.dir, file)))(t)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] == key || key == "" {
			return must.Have(strconv.Atoi(words[len(words)-1]))(t)
		}
	}
	t.Fatalf("%s has no %s: %s", file, key, text)
	return 0
}

// kills returns the number of processes that the kernel killed, and the peak memory of the
// group, including its page cache.
func (h hardLimit) kills(t *testing.T) (kills, peak int) {
	if h.v1 {
		return h.value(t, "memory.oom_control", "oom_kill"), h.value(t, "memory.max_usage_in_bytes", "")
	}
	return h.value(t, "memory.events", "oom_kill"), h.value(t, "memory.peak", "")
}

// TestImportInsideAHardLimit imports more data than the limit. The page cache counts toward
// the limit.
func TestImportInsideAHardLimit(t *testing.T) {
	longtest.Skip(t)
	const (
		target = 256
		limit  = target << 20 * 10 / 8 // the default target is 0.8 of it
	)
	n := max(*records, 40_000)
	group := newHardLimit(t, limit)
	c := group.confine(self(t, measuring, "-target", strconv.Itoa(target), "-store", filepath.Join(t.TempDir(), "store"), "-records", strconv.Itoa(n), "-governed"))
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &complaints)
	}
	var f figure
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	kills, peak := group.kills(t)
	t.Logf("%.0f MB in %.1f s, %.1f MB/s, with up to %d MiB of the limit of %d", f.Megabytes, f.Seconds, f.Megabytes/f.Seconds, peak>>20, limit>>20)
	if kills != 0 || peak < limit/4 || f.Said != 0 {
		t.Errorf("%d kills, up to %d MiB of the limit of %d, said to be too small after %.1f s", kills, peak>>20, limit>>20, f.Said)
	}
}

// TestFullDisk imports until the disk is full. It runs in a process of its own because
// Badger on a full disk may get SIGBUS.
func TestFullDisk(t *testing.T) {
	longtest.Skip(t)
	const n = 30_000
	disk := importtest.SmallDisk(t, 152) // Space keeps 132 of them free
	store := filepath.Join(disk, "store")
	file := source(t, n) // 33 MB
	load := func() (said string, err error) {
		out, err := self(t, importing, "-store", store, "-target", "256", file).CombinedOutput()
		return string(out), err
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
