package load

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"time"
)

// CPU measures the share of the processors that is in use. It has a reading for the machine, and
// one for each quota of this process's control group, of version 1 or 2, and of the groups around
// it. The first poll has no earlier poll to compare with, and reports nothing. It is unavailable on
// systems other than Linux.
type CPU struct {
	// Limit is the share at which the CPU is at its limit, up to 1: 0.6 is 60%. Defaults to 1.
	Limit float64

	fsys    fs.FS
	machine usage
	quotas  map[string]*usage // by the name of their readings
}

// usage has the last values of two counters, whose increases have the share as their ratio.
type usage struct {
	used, total float64
	seen        bool
}

func (u *usage) share(used, total float64) (share float64, ok bool) {
	before := *u
	*u = usage{used, total, true}
	if !before.seen || total <= before.total || used < before.used {
		return 0, false
	}
	return (used - before.used) / (total - before.total), true
}

// Name returns "cpu".
func (*CPU) Name() string { return "cpu" }

// Check implements [Checker].
func (c *CPU) Check() error {
	if c.Limit >= 0 && c.Limit <= 1 {
		return nil
	}
	return fmt.Errorf("CPU.Limit is %v: want 0 (the default), or a share up to 1", c.Limit)
}

// Poll implements [Source].
func (c *CPU) Poll(context.Context) (Sample, error) {
	fsys := cmp.Or(c.fsys, system)
	most := cmp.Or(c.Limit, 1)
	if c.quotas == nil {
		c.quotas = map[string]*usage{}
	}
	var s Sample
	add := func(name string, share float64, ok bool) {
		if ok {
			s.Readings = append(s.Readings, Reading{Name: name, Value: share, Unit: Share, Limit: most})
		}
	}
	used, total, err := machineTime(fsys)
	if err != nil {
		return s, err
	}
	share, ok := c.machine.share(used, total)
	add("cpu", share, ok)
	groups, _ := groupsOf(fsys, "cpu") // without one only the machine limits
	for _, g := range groups {
		used, allowed, limited := g.quotaTime(fsys)
		if !limited {
			continue
		}
		name := "cpu quota" + g.of()
		if c.quotas[name] == nil {
			c.quotas[name] = new(usage)
		}
		share, ok := c.quotas[name].share(used, allowed)
		add(name, share, ok)
	}
	return s, nil
}

// machineTime returns the processors' busy time, and their total time.
func machineTime(fsys fs.FS) (used, total float64, err error) {
	// cpu user nice system idle iowait irq softirq steal
	ticks, err := numbers(fsys, "proc/stat", 1, 2, 3, 4, 5, 6, 7, 8)
	if err != nil {
		return 0, 0, err
	}
	for _, t := range ticks {
		total += t
	}
	const idle, waiting = 3, 4
	return total - ticks[idle] - ticks[waiting], total, nil
}

// quotaTime returns the time that the control group has used, and the time that its quota has
// allowed since this process began, in microseconds.
func (g controlGroup) quotaTime(fsys fs.FS) (used, allowed float64, ok bool) {
	processors, limited, err := g.cpuLimit(fsys)
	if err != nil || !limited {
		return 0, 0, false
	}
	worked, err := g.cpuUsed(fsys)
	return float64(worked.Microseconds()), processors * float64(time.Since(began).Microseconds()), err == nil
}

var began = time.Now()
