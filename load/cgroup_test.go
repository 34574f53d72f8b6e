package load

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/weir-go/weir/internal/must"
)

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
}

func TestCPUQuotaVersion1(t *testing.T) {
	const cpu, account = "sys/fs/cgroup/cpu/app/", "sys/fs/cgroup/cpuacct/app/"
	for name, own := range versions {
		fsys := files("proc/self/cgroup", own, "proc/stat", "cpu 0 0 0 0 0 0 0 0\n",
			cpu+"cpu.cfs_quota_us", "50000\n", cpu+"cpu.cfs_period_us", "100000\n", account+"cpuacct.usage", "0\n")
		g := must.Have(groupOf(fsys, "cpu"))(t)
		if share, limited, err := g.cpuLimit(fsys); share != 0.5 || !limited || err != nil {
			t.Errorf("%s: %v processors, %v, %v", name, share, limited, err)
		}
		fsys[account+"cpuacct.usage"] = &fstest.MapFile{Data: []byte("3000000000\n")}
		if used, err := cpuUsed(fsys); used != 3*time.Second || err != nil {
			t.Errorf("%s: %v, %v", name, used, err)
		}
		fsys[cpu+"cpu.cfs_quota_us"].Data = []byte("-1\n")
		if _, limited, err := g.cpuLimit(fsys); limited || err != nil {
			t.Errorf("%s without a quota: %v, %v", name, limited, err)
		}
	}
}
