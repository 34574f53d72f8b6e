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
}

// Defaults of [Config].
const (
	defaultInterval = 100 * time.Millisecond
	drainInterval   = 20 * time.Millisecond // a store that stalls flushes 8 to 16 tables a second
	defaultTimeout  = time.Second
	minMaxAge       = time.Second
	maxAgeIntervals = 10
)

// complete checks the settings and fills in the defaults.
func (c Config) complete() (Config, error) {
	if len(c.Feeds) == 0 {
		return c, settings.Invalid(ErrConfig, "Feeds", "empty", "at least one")
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
		if err := cmp.Or(
			notNegative("Interval", c.Interval),
			notNegative("Timeout", c.Timeout),
			notNegative("MaxAge", c.MaxAge),
			notNegative(at+"Interval", f.Interval),
			notNegative(at+"Timeout", f.Timeout),
			notNegative(at+"MaxAge", f.MaxAge),
		); err != nil {
			return c, err
		}
		f.Interval = cmp.Or(f.Interval, c.Interval, usualInterval(f.Source))
		f.Timeout = cmp.Or(f.Timeout, cmp.Or(c.Timeout, defaultTimeout))
		f.MaxAge = cmp.Or(f.MaxAge, cmp.Or(c.MaxAge, max(minMaxAge, maxAgeIntervals*f.Interval)))
		if f.MaxAge < f.Interval {
			return c, settings.Invalid(ErrConfig, at+"MaxAge", f.MaxAge, fmt.Sprintf("at least its Interval, which is %v", f.Interval))
		}
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
