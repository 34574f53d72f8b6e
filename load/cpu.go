package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime/metrics"
	"time"
)

// Scheduler is how long runnable goroutines wait for a processor: the p99 since the last poll
// against a limit. It is the earliest sign that the CPU of this process is short.
type Scheduler struct {
	// Limit is the wait at which the CPU is taken to be at its limit. Defaults to
	// 1 ms, as CockroachDB has it.
	Limit time.Duration

	before []uint64
}

const schedulerQuantile = 0.99

// Name returns "scheduler".
func (*Scheduler) Name() string { return "scheduler" }

// Poll implements [Source].
func (s *Scheduler) Poll(context.Context) (Sample, error) {
	value := read("/sched/latencies:seconds")[0].Value
	if value.Kind() != metrics.KindFloat64Histogram {
		return Sample{}, fmt.Errorf("%w: the runtime tells no scheduling latencies", ErrUnavailable)
	}
	h := value.Float64Histogram()
	wait := s.quantile(h)
	limit := cmp.Or(s.Limit, time.Millisecond)
	return one(Reading{Name: "scheduling latency", Value: wait, Unit: Seconds, Limit: limit.Seconds()}), nil
}

// quantile is the quantile of the counts since the last call, as the upper bound of its bucket.
func (s *Scheduler) quantile(h *metrics.Float64Histogram) float64 {
	counts := make([]uint64, len(h.Counts))
	var total uint64
	for i, n := range h.Counts {
		counts[i] = n
		if len(s.before) == len(h.Counts) {
			counts[i] -= s.before[i]
		}
		total += counts[i]
	}
	s.before = append(s.before[:0], h.Counts...)
	rank := uint64(math.Ceil(schedulerQuantile * float64(total)))
	for i, n := range counts {
		if n > 0 && n >= rank {
			if bound := h.Buckets[i+1]; !math.IsInf(bound, 1) {
				return bound
			}
			return h.Buckets[i]
		}
		rank -= min(rank, n)
	}
	return 0
}

// CPU is the share of the processors that is in use: on Linux that of the machine
// or, if it is nearer to its limit, of the quota of this process's control group,
// of version 1 or 2; elsewhere that of this process, as the runtime knows it since the last
// collection of garbage. The first poll has nothing to compare with and reports nothing.
type CPU struct {
	// Limit is the share at which the CPU is at its limit, up to 1. Defaults to 1.
	Limit float64

	fsys          fs.FS
	machine, mine usage
}

// usage is a pair of counters of which the ratio of the differences counts.
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

// Poll implements [Source].
func (c *CPU) Poll(context.Context) (Sample, error) {
	fsys := cmp.Or(c.fsys, system)
	most := cmp.Or(c.Limit, 1)
	var s Sample
	add := func(name string, share float64, ok bool) {
		if ok {
			s.Readings = append(s.Readings, Reading{Name: name, Value: share, Unit: Share, Limit: most})
		}
	}
	used, total, err := machineTime(fsys)
	if errors.Is(err, ErrUnavailable) {
		used, total = ownTime()
		err = nil
	}
	if err != nil {
		return s, err
	}
	share, ok := c.machine.share(used, total)
	add("cpu", share, ok)
	if used, allowed, ok := quotaTime(fsys); ok {
		share, ok := c.mine.share(used, allowed)
		add("cpu quota", share, ok)
	}
	return s, nil
}

// ownTime is this process's busy time, and the time of its processors.
func ownTime() (used, total float64) {
	v := read("/cpu/classes/total:cpu-seconds", "/cpu/classes/idle:cpu-seconds")
	total = v[0].Value.Float64()
	return total - v[1].Value.Float64(), total
}

// machineTime is the processors' busy time, and their time.
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

// quotaTime is the time that the control group used, and its quota since
// some moment, in microseconds.
func quotaTime(fsys fs.FS) (used, allowed float64, ok bool) {
	g, err := groupOf(fsys, "cpu")
	if err != nil {
		return 0, 0, false
	}
	processors, limited, err := g.cpuLimit(fsys)
	if err != nil || !limited {
		return 0, 0, false
	}
	worked, err := cpuUsed(fsys)
	return float64(worked.Microseconds()), processors * float64(time.Since(began).Microseconds()), err == nil
}

var began = time.Now()
