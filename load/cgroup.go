package load

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Cgroup is the memory of this process's control group, of version 1 or 2, against its limit:
// that of all its processes, less the files that could be dropped from the cache. It is
// unavailable where there is no such group, or where neither it nor Target limits.
type Cgroup struct {
	Target uint64 // in bytes. Defaults to the group's own limit

	fsys fs.FS
}

// Name returns "cgroup".
func (*Cgroup) Name() string { return "cgroup" }

// Poll implements [Source].
func (c *Cgroup) Poll(context.Context) (Sample, error) {
	fsys := cmp.Or(c.fsys, system)
	g, err := groupOf(fsys, "memory")
	if err != nil {
		return Sample{}, err
	}
	most := float64(c.Target)
	if most == 0 {
		own, limited, err := g.memoryLimit(fsys)
		if err != nil {
			return Sample{}, err
		}
		if !limited {
			return Sample{}, fmt.Errorf("%w: the control group has no memory limit", ErrUnavailable)
		}
		most = own
	}
	used, err := g.memoryUsed(fsys)
	if err != nil {
		return Sample{}, err
	}
	return one(Reading{Name: "cgroup memory", Value: used, Unit: Bytes, Limit: most}), nil
}

// A controlGroup is the control group of this process that has one controller. Systems mount
// version 2, or version 1 with a tree for each controller, or both with the controllers in version
// 1 (hybrid).
type controlGroup struct {
	dir string
	v1  bool
}

func groupOf(fsys fs.FS, controller string) (controlGroup, error) {
	text, err := fs.ReadFile(fsys, "proc/self/cgroup")
	if err != nil {
		return controlGroup{}, missing(err)
	}
	unified := controlGroup{}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number of the tree, its controllers, name of the group
		switch {
		case len(fields) != 3:
		case fields[0] == "0" && fields[1] == "":
			unified = controlGroup{dir: within(fsys, "sys/fs/cgroup", fields[2])}
		case slices.Contains(strings.Split(fields[1], ","), controller):
			return controlGroup{dir: within(fsys, path.Join("sys/fs/cgroup", controller), fields[2]), v1: true}, nil
		}
	}
	if unified.dir == "" {
		return controlGroup{}, fmt.Errorf("%w: no control group for %s", ErrUnavailable, controller)
	}
	return unified, nil
}

// within is the directory of a group, which within a container may be the root of
// the mount, whatever its name outside.
func within(fsys fs.FS, root, own string) string {
	dir := path.Join(root, own)
	if _, err := fs.Stat(fsys, dir); err != nil {
		return root
	}
	return dir
}

// noLimit is where version 1 begins to mean none: it reports the greatest number of whole pages.
const noLimit = 1 << 62

// memoryLimit is the limit in bytes.
func (g controlGroup) memoryLimit(fsys fs.FS) (bytes float64, limited bool, err error) {
	if !g.v1 {
		return limit(fsys, path.Join(g.dir, "memory.max"))
	}
	bytes, limited, err = limit(fsys, path.Join(g.dir, "memory.limit_in_bytes"))
	return bytes, limited && bytes < noLimit, err
}

// memoryUsed is the memory of the group's processes in bytes, less the files that could be dropped
// from the cache.
func (g controlGroup) memoryUsed(fsys fs.FS) (float64, error) {
	usage, cache := "memory.current", "inactive_file"
	if g.v1 {
		usage, cache = "memory.usage_in_bytes", "total_inactive_file"
	}
	used, err := numbers(fsys, path.Join(g.dir, usage), 0)
	if err != nil {
		return 0, err
	}
	cached, err := keyed(fsys, path.Join(g.dir, "memory.stat"), cache)
	return max(0, used[0]-cached), err
}

// cpuLimit is how many processors the quota lets the group use.
func (g controlGroup) cpuLimit(fsys fs.FS) (processors float64, limited bool, err error) {
	if g.v1 {
		quota, err := numbers(fsys, path.Join(g.dir, "cpu.cfs_quota_us"), 0)
		if err != nil || quota[0] <= 0 {
			return 0, false, err
		}
		period, err := numbers(fsys, path.Join(g.dir, "cpu.cfs_period_us"), 0)
		if err != nil || period[0] <= 0 {
			return 0, false, err
		}
		return quota[0] / period[0], true, nil
	}
	name := path.Join(g.dir, "cpu.max")
	if _, limited, err := limit(fsys, name); err != nil || !limited {
		return 0, false, err
	}
	quota, err := numbers(fsys, name, 0, 1)
	if err != nil || quota[1] <= 0 {
		return 0, false, err
	}
	return quota[0] / quota[1], true, nil
}

// cpuUsed is the processor time of the group that accounts for it. In version 1 that is a
// controller of its own.
func cpuUsed(fsys fs.FS) (time.Duration, error) {
	g, err := groupOf(fsys, "cpuacct")
	if err != nil {
		return 0, err
	}
	if g.v1 {
		used, err := numbers(fsys, path.Join(g.dir, "cpuacct.usage"), 0)
		if err != nil {
			return 0, err
		}
		return time.Duration(used[0]), nil
	}
	used, err := keyed(fsys, path.Join(g.dir, "cpu.stat"), "usage_usec")
	return time.Duration(used) * time.Microsecond, err
}
