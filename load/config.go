package load

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/internal/settings"
)

// Config configures a [Monitor]. 0 always means the default; a value out of range
// is an error that names the field.
type Config struct {
	// Feeds are the sources, with names that differ. At least one.
	Feeds []Feed

	// Combine says how feeds make one load. Defaults to [Worst].
	Combine Combine

	// Interval, Timeout and MaxAge are the defaults of the feeds. Interval is
	// from one poll to the next, and defaults to 100 ms, or to 20 ms for a source that reports a
	// [Drain], which says something new with each table; Timeout is of one poll, and defaults to 1
	// s; MaxAge is how old a reading may be, and defaults to 10 intervals, or to 1 s if that is
	// more. It is at least the Interval.
	Interval, Timeout, MaxAge time.Duration

	// OnEvent, if set, is called when a feed becomes stale and when it answers
	// again, outside all locks. It may be called from several goroutines at once, and
	// the feed of the event is not polled before it has returned. If it panics the
	// polls go on, and Run returns the panic as an error.
	OnEvent func(Event)
}

// A Feed is a source and how it is polled.
type Feed struct {
	Source Source // the polled source
	// Interval, Timeout and MaxAge override the [Config].
	Interval, Timeout, MaxAge time.Duration
	// Weight is the feed's weight in a [WeightedSum], at most 1e9. Defaults to 1.
	Weight float64
}

// Combine says how several feeds make one load. Within a feed the worst reading counts.
type Combine uint8

// The ways to combine.
const (
	// Worst is the load of the worst feed.
	Worst Combine = 0
	// WeightedSum is the sum of the loads, each times its feed's share of the weights. It masks a
	// single bottleneck: 0.7 of memory at 30% and 0.3 of a store that is at its limit are 0.51.
	WeightedSum Combine = 1
)

// String returns "worst" or "weighted sum".
func (c Combine) String() string {
	switch c {
	case Worst:
		return "worst"
	case WeightedSum:
		return "weighted sum"
	}
	return fmt.Sprintf("Combine(%d)", uint8(c))
}

// Defaults of [Config].
const (
	defaultInterval = 100 * time.Millisecond
	drainInterval   = 20 * time.Millisecond // a store that stalls flushes 8 to 16 tables a second
	defaultTimeout  = time.Second
	minMaxAge       = time.Second
	maxAgeIntervals = 10
	maxWeight       = 1e9
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	if len(c.Feeds) == 0 {
		return c, settings.Invalid(ErrConfig, "Feeds", "empty", "at least one")
	}
	if c.Combine > WeightedSum {
		return c, settings.Invalid(ErrConfig, "Combine", c.Combine, "Worst or WeightedSum")
	}
	feeds := make([]Feed, len(c.Feeds))
	names := map[string]bool{}
	for i, f := range c.Feeds {
		if f.Source == nil {
			return c, settings.Invalid(ErrConfig, fmt.Sprintf("Feeds[%d].Source", i), "nil", "a source")
		}
		name := f.Source.Name()
		if names[name] {
			return c, fmt.Errorf("%w: Feeds[%d] is named %q: want a name that no other feed has", ErrConfig, i, name)
		}
		names[name] = true
		at := fmt.Sprintf("Feeds[%d].", i)
		if err := settings.First(
			notNegative("Interval", c.Interval),
			notNegative("Timeout", c.Timeout),
			notNegative("MaxAge", c.MaxAge),
			notNegative(at+"Interval", f.Interval),
			notNegative(at+"Timeout", f.Timeout),
			notNegative(at+"MaxAge", f.MaxAge),
		); err != nil {
			return c, err
		}
		if !(f.Weight >= 0 && f.Weight <= maxWeight) {
			return c, settings.Invalid(ErrConfig, at+"Weight", f.Weight, fmt.Sprintf("0 (the default) to %v", maxWeight))
		}
		f.Interval = cmp.Or(f.Interval, c.Interval, usualInterval(f.Source))
		f.Timeout = cmp.Or(f.Timeout, cmp.Or(c.Timeout, defaultTimeout))
		f.MaxAge = cmp.Or(f.MaxAge, cmp.Or(c.MaxAge, max(minMaxAge, maxAgeIntervals*f.Interval)))
		if f.MaxAge < f.Interval {
			return c, settings.Invalid(ErrConfig, at+"MaxAge", f.MaxAge, fmt.Sprintf("at least its Interval, which is %v", f.Interval))
		}
		f.Weight = cmp.Or(f.Weight, 1)
		feeds[i] = f
	}
	c.Feeds = feeds
	return c, nil
}

func notNegative(field string, value time.Duration) error {
	return settings.NotNegative(ErrConfig, field, value, "0 (the default) or more")
}

// usualInterval is how often a source is polled if it is not said.
func usualInterval(s Source) time.Duration {
	if tellsDrain(s) {
		return drainInterval
	}
	return defaultInterval
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
