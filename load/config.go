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
	// Sources are the systems to poll: at least one, with different names. [New] checks the
	// settings of each [Checker].
	Sources []Source

	// Interval is the time from the end of one poll of a source to the next poll. Defaults to 100
	// ms, or to 20 ms for a source that reports a [Drain], which changes with each table. A poll
	// may take 10 intervals, or 1 s if that is more. A reading is valid for the same time.
	Interval time.Duration

	// OnEvent, if set, is called when a feed becomes stale and when it answers again, outside all
	// locks. Several goroutines may call it at once. The monitor begins no poll of the feed before
	// the call has returned. If OnEvent panics the polls go on, and Run returns the panic as an
	// error.
	OnEvent func(Event)
}

// Defaults of [Config].
const (
	defaultInterval = 100 * time.Millisecond
	drainInterval   = 20 * time.Millisecond // a store that stalls flushes 8 to 16 tables a second
	minMaxAge       = time.Second
	maxAgeIntervals = 10
)

// feeds checks the settings, and returns the feeds with the defaults filled in.
func (c Config) feeds() (feeds []*feed, err error) {
	if err := settings.NotNegative(ErrConfig, "Interval", c.Interval, "0 (the default) or more"); err != nil {
		return nil, err
	}
	if len(c.Sources) == 0 {
		return nil, settings.Invalid(ErrConfig, "Sources", "empty", "at least one")
	}
	names := map[string]bool{}
	for i, s := range c.Sources {
		if s == nil {
			return nil, settings.Invalid(ErrConfig, fmt.Sprintf("Sources[%d]", i), "nil", "a source")
		}
		f := &feed{source: s, name: s.Name(), interval: cmp.Or(c.Interval, usualInterval(s))}
		f.maxAge = max(minMaxAge, maxAgeIntervals*min(f.interval, math.MaxInt64/maxAgeIntervals))
		if names[f.name] {
			return nil, fmt.Errorf("%w: Sources[%d] is named %q: want a name that no other source has", ErrConfig, i, f.name)
		}
		names[f.name] = true
		if c, ok := s.(Checker); ok {
			if err := c.Check(); err != nil {
				return nil, fmt.Errorf("%w: Sources[%d]: %w", ErrConfig, i, err)
			}
		}
		feeds = append(feeds, f)
	}
	return feeds, nil
}

// usualInterval returns the default interval of a source.
func usualInterval(s Source) time.Duration {
	if tellsDrain(s) {
		return drainInterval
	}
	return defaultInterval
}
