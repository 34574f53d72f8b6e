package memory

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/load"
)

// ErrConfig matches every error about a setting or an argument.
var ErrConfig = settings.ErrConfigOf("memory")

// Config configures a [Governor]. The zero Config works.
type Config struct {
	// Target is the memory that the process may have, in bytes, at least 16 MiB. Defaults to 0.8 of
	// the least memory limit of the process's control group and the groups around it, and without a
	// limit to 1.5 GB, 1,500,000,000 bytes.
	Target uint64

	// Mapped has patterns, as of [filepath.Match], of the absolute paths of files that a store maps
	// shared into the memory of the process, such as "/data/*.sst". The governor asks Linux to take
	// back the pages of these files. Defaults to none.
	Mapped []string

	// OnEvent, if set, is called by Run when the target turns out to be too small, and when it
	// suffices again. The next decision waits for it. If it panics or ends its goroutine, Run goes
	// on, and returns an error about that when it ends.
	OnEvent func(Event)
}

const (
	leastTarget   = 16 << 20      // a Go program without data takes a few MB
	defaultTarget = 1_500_000_000 // as of load.Memory
	groupShare    = 0.8           // of the control group's limit: the rest is for the kernel's cache of files
)

func (c Config) complete() (Config, error) {
	if c.Target != 0 && c.Target < leastTarget {
		return c, settings.Invalid(ErrConfig, "Target", c.Target, fmt.Sprintf("0 (the default) or at least %d bytes", leastTarget))
	}
	for i, pattern := range c.Mapped {
		if _, err := filepath.Match(pattern, ""); err != nil || !filepath.IsAbs(pattern) {
			return c, settings.Invalid(ErrConfig, fmt.Sprintf("Mapped[%d]", i), strconv.Quote(pattern), "a pattern of absolute paths, as of filepath.Match")
		}
	}
	if c.Target == 0 {
		c.Target = groupTarget(&load.Cgroup{})
	}
	return c, nil
}

func groupTarget(group load.Source) uint64 {
	sample, err := group.Poll(context.Background())
	if err != nil {
		return defaultTarget // no group, or no limit
	}
	limit := math.Inf(1)
	for _, r := range sample.Readings { // the readings of the group, and of the groups around it
		limit = min(limit, r.Limit)
	}
	return max(uint64(groupShare*limit), leastTarget)
}

// An Event says that the target turned out to be too small, or that it suffices again.
type Event struct {
	At     time.Time // the time of the event
	Kind   Kind      // the kind of the event
	Target uint64    // Config.Target, in bytes
	Least  uint64    // the least target that leaves room for work, in bytes, as of that moment
}

// A Kind is a kind of [Event].
type Kind uint8

const (
	// TargetTooSmall: for 3 s the budget was at its least with hardly any bytes in flight, so that
	// the work is not the cause. Or for 1 s the need or the memory in use was above the target.
	TargetTooSmall Kind = 1
	// TargetSuffices: there was room for 18 s.
	TargetSuffices Kind = 2
)

var kinds = [...]string{TargetTooSmall: "target too small", TargetSuffices: "target suffices"}

// String returns "target too small" or "target suffices".
func (k Kind) String() string { return wire.Word(kinds[:], k, "Kind") }

// String describes the event in one line.
func (e Event) String() string {
	if e.Kind == TargetTooSmall {
		return fmt.Sprintf("memory: target of %d MB below what the store needs: %d MB", e.Target/1e6, e.Least/1e6)
	}
	return fmt.Sprintf("memory: %v: %d MB", e.Kind, e.Target/1e6)
}
