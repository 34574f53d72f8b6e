package load

import (
	"errors"
	"os"
	"testing"
	"testing/fstest"

	"github.com/weir-go/weir/internal/must"
)

func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func poll(t *testing.T, s Source) map[string]Reading {
	t.Helper()
	sample := must.Have(s.Poll(t.Context()))(t)
	byName := map[string]Reading{}
	for _, r := range sample.Readings {
		r = r.check()
		if r.Err != nil {
			t.Error(r.Err)
		}
		byName[r.Name] = r
	}
	return byName
}

func TestMemory(t *testing.T) {
	page := float64(os.Getpagesize())
	m := &Memory{Target: 1 << 30, fsys: files("proc/self/statm", "9000 700 200 1 0 5 0\n")}
	if r := poll(t, m)["memory"]; r.Value != 500*page || r.Limit != 1<<30 {
		t.Errorf("%+v", r)
	}
	m = &Memory{fsys: files()} // not Linux
	if r := poll(t, m)["memory"]; r.Value < 1<<16 || r.Limit != 1.5e9 {
		t.Errorf("%+v", r)
	}
	if r := poll(t, &Memory{})["memory"]; r.Value < 1<<16 {
		t.Errorf("this process takes %+v", r)
	}
}

const group = "sys/fs/cgroup/app/"

func TestCgroup(t *testing.T) {
	fsys := files("proc/self/cgroup", "1:cpu:/x\n0::/app\n", group+"memory.max", "1000\n",
		group+"memory.current", "900\n", group+"memory.stat", "anon 1\ninactive_file 300\n")
	if r := poll(t, &Cgroup{fsys: fsys})["cgroup memory"]; r.Load() != 0.6 {
		t.Errorf("%+v", r)
	}
	if r := poll(t, &Cgroup{Target: 600, fsys: fsys})["cgroup memory"]; r.Load() != 1 {
		t.Errorf("%+v", r)
	}
	fsys[group+"memory.max"].Data = []byte("max\n")
	for name, fsys := range map[string]fstest.MapFS{
		"no limit": fsys, "no groups": files(), "version 1": files("proc/self/cgroup", "1:cpu:/x\n"),
		"root of a machine": files("proc/self/cgroup", "0::/\n"),
	} {
		if _, err := (&Cgroup{fsys: fsys}).Poll(t.Context()); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&Cgroup{fsys: files("proc/self/cgroup", "0::/app", group+"memory.max", "many")}).Poll(t.Context()); err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("a limit that is no number: %v", err)
	}
}

func TestCPU(t *testing.T) {
	fsys := files("proc/stat", "cpu 100 0 100 800 0 0 0 0 0 0\ncpu0 1\n", "proc/self/cgroup", "0::/app",
		group+"cpu.max", "50000 100000", group+"cpu.stat", "usage_usec 1000\n")
	c := &CPU{fsys: fsys}
	if got := poll(t, c); len(got) != 0 {
		t.Errorf("the first poll: %v", got)
	}
	fsys["proc/stat"].Data = []byte("cpu 130 0 130 820 20 0 0 0 0 0\n")
	fsys[group+"cpu.stat"].Data = []byte("usage_usec 1000000000000\n")
	got := poll(t, c)
	if got["cpu"].Value != 0.6 || got["cpu quota"].Value < 1 {
		t.Errorf("%v, want 60 of 100 ticks, and more than the quota", got)
	}
	fsys["proc/stat"].Data = []byte("cpu 1 0 1 1 0 0 0 0\n") // the counters began anew
	if got, ok := poll(t, c)["cpu"]; ok {
		t.Errorf("%v", got)
	}
	elsewhere := &CPU{fsys: files()}
	poll(t, elsewhere)
}
