package load

import (
	"errors"
	"math"
	"os"
	"testing"
	"testing/fstest"
	"time"

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

// A drain that makes no sense would be paced by.
func TestDrainIsChecked(t *testing.T) {
	for _, d := range []Drain{
		{Drained: -1, Target: 9},
		{Backlog: -1, Target: 9},
		{Backlog: math.NaN(), Target: 9},
		{},
		{Target: math.Inf(1)},
		{Target: 9, Limit: -1},
		{Target: 9, Limit: math.Inf(1)},
	} {
		if err := d.check(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", d, err)
		}
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
	fsys[group+"memory.stat"].Data = []byte("inactive_file 1000\n") // as of a moment later
	if r := poll(t, &Cgroup{fsys: fsys})["cgroup memory"]; r.Value != 0 {
		t.Errorf("%+v", r)
	}
	fsys[group+"memory.stat"].Data = []byte("inactive_file 300\n")
	fsys[group+"memory.high"] = &fstest.MapFile{Data: []byte("800\n")} // where the kernel begins to slow it down
	if r := poll(t, &Cgroup{fsys: fsys})["cgroup memory"]; r.Load() != 0.75 {
		t.Errorf("with memory.high: %+v", r)
	}
	fsys[group+"memory.max"].Data = []byte("max\n")
	if r := poll(t, &Cgroup{fsys: fsys})["cgroup memory"]; r.Load() != 0.75 {
		t.Errorf("with memory.high alone: %+v", r)
	}
	fsys[group+"memory.high"].Data = []byte("max\n")
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

// A service of systemd has the limits of its slice, too.
func TestCgroupsAroundThisOne(t *testing.T) {
	const slice = "sys/fs/cgroup/a.slice/"
	fsys := files("proc/self/cgroup", "0::/a.slice/b.slice/c.service\n", slice+"b.slice/c.service/memory.max", "max\n",
		slice+"b.slice/memory.max", "1000\n", slice+"b.slice/memory.current", "500\n", slice+"b.slice/memory.stat", "inactive_file 0\n",
		slice+"memory.max", "2000\n", slice+"memory.current", "1900\n", slice+"memory.stat", "inactive_file 100\n",
		slice+"cpu.max", "50000 100000\n", slice+"cpu.stat", "usage_usec 1\n", "proc/stat", "cpu 0 0 0 0 0 0 0 0\n")
	got := poll(t, &Cgroup{fsys: fsys})
	if len(got) != 2 || got["cgroup memory of /a.slice/b.slice"].Load() != 0.5 || got["cgroup memory of /a.slice"].Load() != 0.9 {
		t.Errorf("%v", got)
	}
	c := &CPU{fsys: fsys}
	poll(t, c)
	fsys[slice+"cpu.stat"].Data = []byte("usage_usec 1000000000000\n")
	if r := poll(t, c)["cpu quota of /a.slice"]; r.Load() < 1 {
		t.Errorf("%+v, want more than the quota", r)
	}
	outside := files("proc/self/cgroup", "0::/../../other\n", "sys/fs/cgroup/memory.max", "1000\n",
		"sys/fs/cgroup/memory.current", "500\n", "sys/fs/cgroup/memory.stat", "inactive_file 0\n")
	if r := poll(t, &Cgroup{fsys: outside})["cgroup memory"]; r.Load() != 0.5 {
		t.Errorf("a group outside of the mount: %+v, want the root of the mount", r)
	}
}

func TestCPU(t *testing.T) {
	fsys := files("proc/stat", "cpu 100 0 100 800 0 0 0 0 0 0\ncpu0 1\n", "proc/self/cgroup", "0::/app",
		group+"cpu.max", "50000 100000", group+"cpu.stat", "usage_usec 1000\n")
	c := &CPU{Limit: 0.5, fsys: fsys}
	if got := poll(t, c); len(got) != 0 {
		t.Errorf("the first poll: %v", got)
	}
	fsys["proc/stat"].Data = []byte("cpu 130 0 130 820 20 0 0 0 0 0\n")
	fsys[group+"cpu.stat"].Data = []byte("usage_usec 1000000000000\n")
	got := poll(t, c)
	if got["cpu"].Value != 0.6 || got["cpu"].Limit != 0.5 || got["cpu quota"].Value < 1 {
		t.Errorf("%v, want 60 of 100 ticks, and more than the quota", got)
	}
	for _, anew := range []string{"cpu 1 0 1 9000 0 0 0 0\n", "cpu 1 0 1 1 0 0 0 0\n"} {
		fsys["proc/stat"].Data = []byte(anew) // the counters began anew
		if got, ok := poll(t, c)["cpu"]; ok {
			t.Errorf("%v", got)
		}
	}
	if _, err := (&CPU{fsys: files()}).Poll(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("elsewhere than on Linux: %v", err)
	}
}

// The two ways in which systems have control groups of version 1: alone, and hybrid, where version
// 2 is mounted beside them and has no controllers.
var versions = map[string]string{
	"version 1": "5:memory:/app\n4:cpu,cpuacct:/app\n1:name=systemd:/app\n",
	"hybrid":    "5:memory:/app\n4:cpu,cpuacct:/app\n1:name=systemd:/app\n0::/app\n",
}

// In a container the root of the mount is its own group, whatever the name outside.
func TestCgroupVersion1InAContainer(t *testing.T) {
	const dir = "sys/fs/cgroup/memory/"
	fsys := files("proc/self/cgroup", "5:memory:/docker/abc\n", dir+"memory.limit_in_bytes", "1000\n",
		dir+"memory.usage_in_bytes", "900\n", dir+"memory.stat", "total_inactive_file 300\n")
	if r := poll(t, &Cgroup{fsys: fsys})["cgroup memory"]; r.Load() != 0.6 {
		t.Errorf("%+v", r)
	}
	fsys[dir+"memory.limit_in_bytes"].Data = []byte("9223372036854771712\n") // none
	if _, err := (&Cgroup{fsys: fsys}).Poll(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("without a limit: %v", err)
	}
}

func TestCPUQuota(t *testing.T) {
	const cpu, account = "sys/fs/cgroup/cpu/app/", "sys/fs/cgroup/cpuacct/app/"
	for name, own := range map[string]string{"version 1": versions["version 1"], "hybrid": versions["hybrid"], "version 2": "0::/app\n"} {
		fsys := files("proc/self/cgroup", own, "proc/stat", "cpu 0 0 0 0 0 0 0 0\n",
			group+"cpu.max", "50000 100000\n", group+"cpu.stat", "usage_usec 3000000\nuser_usec 1\n",
			cpu+"cpu.cfs_quota_us", "50000\n", cpu+"cpu.cfs_period_us", "100000\n", account+"cpuacct.usage", "3000000000\n")
		g := must.Have(groupOf(fsys, "cpu"))(t)
		if share, limited, err := g.cpuLimit(fsys); share != 0.5 || !limited || err != nil {
			t.Errorf("%s: %v processors, %v, %v", name, share, limited, err)
		}
		if used, err := g.cpuUsed(fsys); used != 3*time.Second || err != nil {
			t.Errorf("%s: %v, %v", name, used, err)
		}
		fsys[group+"cpu.max"].Data, fsys[cpu+"cpu.cfs_quota_us"].Data = []byte("max 100000\n"), []byte("-1\n")
		if _, limited, err := g.cpuLimit(fsys); limited || err != nil {
			t.Errorf("%s without a quota: %v, %v", name, limited, err)
		}
	}
}
