package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"
)

// Cgroup measures the memory of this process's control group, of version 1 or 2, against its limit,
// the lower of memory.high and memory.max. The memory is of all processes in the group, less the
// files that the kernel could drop from the cache. Without a Target, each group around it that has
// a limit has a reading too. It is unavailable if there is no such group, or neither a limit nor a
// Target.
type Cgroup struct {
	Target uint64 // of the process's own group, in bytes. Defaults to the limits of the groups

	fsys fs.FS
}

// Name returns "cgroup".
func (*Cgroup) Name() string { return "cgroup" }

// Poll implements [Source].
func (c *Cgroup) Poll(context.Context) (Sample, error) {
	fsys := cmp.Or(c.fsys, system)
	groups, err := groupsOf(fsys, "memory")
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	for _, g := range groups {
		most, limited, err := c.limitOf(fsys, g)
		if err != nil {
			return Sample{}, err
		}
		if !limited {
			continue
		}
		used, err := g.memoryUsed(fsys)
		if err != nil {
			return Sample{}, err
		}
		s.Readings = append(s.Readings, Reading{Name: "cgroup memory" + g.of(), Value: used, Unit: Bytes, Limit: most})
	}
	if len(s.Readings) == 0 {
		return Sample{}, fmt.Errorf("%w: the control group has no memory limit", ErrUnavailable)
	}
	return s, nil
}

func (c *Cgroup) limitOf(fsys fs.FS, g controlGroup) (bytes float64, limited bool, err error) {
	if c.Target > 0 {
		return float64(c.Target), !g.around, nil
	}
	return g.memoryLimit(fsys)
}

// A controlGroup is a control group of this process, for one controller. Systems mount version 2,
// or version 1 with a tree for each controller, or both with the controllers in version 1 (hybrid).
type controlGroup struct {
	mount  string // of the tree
	name   string // in the tree, "/" for its root
	around bool   // the process is in a group within it
	v1     bool
}

// of returns the end of the names of the readings of the group.
func (g controlGroup) of() string {
	if g.around {
		return " of " + g.name
	}
	return ""
}

func (g controlGroup) file(name string) string { return path.Join(g.mount, g.name, name) }

// groupsOf returns the group of this process, and the groups around it up to the root.
func groupsOf(fsys fs.FS, controller string) ([]controlGroup, error) {
	g, err := groupOf(fsys, controller)
	if err != nil {
		return nil, err
	}
	groups := []controlGroup{g}
	for g.name != "/" {
		g.name, g.around = path.Dir(g.name), true
		groups = append(groups, g)
	}
	return groups, nil
}

// groupOf is the group of this process.
func groupOf(fsys fs.FS, controller string) (controlGroup, error) {
	text, err := read(fsys, "proc/self/cgroup")
	if err != nil {
		return controlGroup{}, err
	}
	var unified controlGroup
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number of the tree, its controllers, name of the group
		switch {
		case len(fields) != 3:
		case fields[0] == "0":
			unified = within(fsys, "sys/fs/cgroup", fields[2])
		case slices.Contains(strings.Split(fields[1], ","), controller):
			g := within(fsys, path.Join("sys/fs/cgroup", controller), fields[2])
			g.v1 = true
			return g, nil
		}
	}
	if unified.mount == "" {
		return controlGroup{}, fmt.Errorf("%w: no control group for %s", ErrUnavailable, controller)
	}
	return unified, nil
}

// within returns a group of a tree. In a container the group may be the root of the mount, whatever
// its name outside of the container.
func within(fsys fs.FS, mount, name string) controlGroup {
	g := controlGroup{mount: mount, name: path.Join("/", name)}
	if _, err := fs.Stat(fsys, g.file("")); err != nil {
		g.name = "/"
	}
	return g
}

// noLimit is the least number that means no limit: version 1 then reports the greatest number of
// whole pages.
const noLimit = 1 << 62

// memoryLimit returns the lowest limit in bytes at which the kernel slows the group down, or ends
// its processes. The root of version 2, and groups without the controller, have no files with
// limits.
func (g controlGroup) memoryLimit(fsys fs.FS) (bytes float64, limited bool, err error) {
	names := []string{"memory.high", "memory.max"}
	if g.v1 {
		names = []string{"memory.limit_in_bytes"}
	}
	bytes = noLimit
	for _, name := range names {
		most, err := numbers(fsys, g.file(name), 0)
		switch {
		case err == nil:
			bytes = min(bytes, most[0])
		case !errors.Is(err, ErrUnavailable):
			return 0, false, err
		}
	}
	return bytes, bytes < noLimit, nil
}

// memoryUsed is the memory of the group's processes in bytes, less the files that could be dropped
// from the cache.
func (g controlGroup) memoryUsed(fsys fs.FS) (float64, error) {
	usage, cache := "memory.current", "inactive_file"
	if g.v1 {
		usage, cache = "memory.usage_in_bytes", "total_inactive_file"
	}
	used, err := numbers(fsys, g.file(usage), 0)
	if err != nil {
		return 0, err
	}
	cached, err := keyed(fsys, g.file("memory.stat"), cache)
	return max(0, used[0]-cached), err
}

// cpuLimit returns the number of processors that the quota lets the group use.
func (g controlGroup) cpuLimit(fsys fs.FS) (processors float64, limited bool, err error) {
	if g.v1 {
		quota, err := numbers(fsys, g.file("cpu.cfs_quota_us"), 0)
		if err != nil || quota[0] <= 0 {
			return 0, false, err
		}
		period, err := numbers(fsys, g.file("cpu.cfs_period_us"), 0)
		if err != nil {
			return 0, false, err
		}
		return quota[0] / period[0], true, nil
	}
	quota, err := numbers(fsys, g.file("cpu.max"), 0, 1)
	if err != nil {
		return 0, false, err
	}
	return quota[0] / quota[1], !math.IsInf(quota[0], 1), nil
}

// cpuUsed returns the processor time of the group. In version 1 another controller, cpuacct, counts
// it in a group of the same name.
func (g controlGroup) cpuUsed(fsys fs.FS) (time.Duration, error) {
	if g.v1 {
		g.mount = "sys/fs/cgroup/cpuacct"
		used, err := numbers(fsys, g.file("cpuacct.usage"), 0)
		if err != nil {
			return 0, err
		}
		return time.Duration(used[0]), nil
	}
	used, err := keyed(fsys, g.file("cpu.stat"), "usage_usec")
	return time.Duration(used) * time.Microsecond, err
}
