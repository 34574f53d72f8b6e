package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/isolate"
)

// A feed is a source with its last answer.
type feed struct {
	source           Source
	name             string
	interval, maxAge time.Duration

	poller isolate.Solo

	mu       sync.Mutex
	readings []Reading // replaced as a whole
	actuator Actuator  // of these readings
	drained  Drain
	drainAt  time.Time
	drains   bool  // the source has reported a drain
	err      error // of the last poll
	polls    uint64
	failures uint64

	deniedUntil time.Time // when to poll again, after ErrDenied

	told Kind // the state that was last reported, 0 for none; only watch uses it
}

// A FeedSnapshot is the state of one feed at one moment.
type FeedSnapshot struct {
	Source   string        // Source.Name
	Readings []Reading     // its last answer, valid or not
	Actuator Actuator      // brings the readings down
	Drains   bool          // whether the source reports a [Drain]
	Drain    *Drain        // the last drain, nil if it is stale
	Err      error         // why the feed is stale or missing, or a reading not valid; nil if nothing is wrong
	Missing  bool          // there is nothing to measure, so it is left out
	Age      time.Duration // of the newest valid reading, 0 before the first
	Polls    uint64        // polls that returned
	Failures uint64        // polls of these without a valid reading
}

// deniedFor is the time after which a source is polled again if its system did not let it in. Neo4j
// locks a user out for 5 s after three wrong passwords. Polled each 100 ms it refused the right
// password too, in 35 of 37 tries.
const deniedFor = 30 * time.Second

// start polls, unless the last poll has not returned yet or its system did not let the source in.
func (f *feed) start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock() // so that no poll returns after the look at deniedUntil
	if time.Now().Before(f.deniedUntil) {
		return
	}
	f.poller.Start(func() {
		var sample Sample
		var err error
		if end := isolate.Call(func() { sample, err = f.poll(ctx) }); end != nil {
			err = fmt.Errorf("load: source %q %w", f.name, end)
		}
		f.take(sample, err, time.Now())
	})
}

func (f *feed) poll(ctx context.Context) (Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, f.maxAge) // a later answer would be stale at once
	defer cancel()
	sample, err := f.source.Poll(ctx)
	if err == nil && sample.Actuator > ByConcurrency {
		err = fmt.Errorf("%w: actuator is %v: want ByPace or ByConcurrency", ErrInvalid, sample.Actuator)
	}
	sample.Readings = slices.Clone(sample.Readings)
	return sample, err
}

// take keeps the result of a poll. A reading that is not valid leaves the last valid reading of
// that name in place until it is stale.
func (f *feed) take(s Sample, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	f.polls++
	if errors.Is(err, ErrDenied) {
		f.deniedUntil = now.Add(deniedFor)
	}
	valid := 0
	if err == nil {
		f.drains = f.drains || s.Drain != nil
		valid = f.accept(s, now)
		if d := s.Drain; d != nil {
			if f.err = d.check(); f.err == nil {
				f.drained, f.drainAt = *d, now
				valid++
			}
		}
	}
	if valid == 0 {
		f.failures++
	}
}

// accept replaces the readings and counts the valid ones.
func (f *feed) accept(s Sample, now time.Time) (valid int) {
	for i, r := range s.Readings {
		r = r.check()
		if r.At.IsZero() || r.At.After(now) {
			r.At = now
		}
		if r.Err == nil {
			valid++
		} else if !errors.Is(r.Err, ErrUnavailable) {
			f.err = r.Err
			if before, ok := f.reading(r.Name); ok && before.Err == nil {
				r = before
			}
		}
		s.Readings[i] = r
	}
	if len(s.Readings) > 0 {
		f.readings, f.actuator = s.Readings, s.Actuator
	}
	return valid
}

func (f *feed) reading(name string) (Reading, bool) {
	i := slices.IndexFunc(f.readings, func(r Reading) bool { return r.Name == name })
	if i < 0 {
		return Reading{}, false
	}
	return f.readings[i], true
}

// status returns the state at a moment, with the stale readings marked. It also reports whether the
// source is fresh: no poll has given a valid reading so far, and the last poll did not fail. One
// lock covers both, because an answer in between would make a new source look stale.
func (f *feed) status(now time.Time) (s FeedSnapshot, fresh bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh = f.err == nil && f.polls == f.failures
	s = FeedSnapshot{Source: f.name, Polls: f.polls, Failures: f.failures, Readings: slices.Clone(f.readings), Actuator: f.actuator, Drains: f.drains}
	if errors.Is(f.err, ErrUnavailable) {
		s.Missing, s.Err = true, f.err
		return s, fresh
	}
	newest := f.drainAt
	if now.Sub(f.drainAt) <= f.maxAge {
		s.Drain = new(f.drained)
	}
	for i, r := range s.Readings {
		if r.Err == nil && r.At.After(newest) {
			newest = r.At
		}
		if age := now.Sub(r.At); r.Err == nil && age > f.maxAge {
			r.Err = fmt.Errorf("%w: %v old", ErrStale, age.Round(time.Millisecond))
			s.Readings[i] = r
		}
		if r.Err != nil && s.Err == nil && !errors.Is(r.Err, ErrUnavailable) {
			s.Err = fmt.Errorf("load: source %q: %s: %w", f.name, r.Name, r.Err)
		}
	}
	if !newest.IsZero() {
		s.Age = now.Sub(newest)
	}
	if newest.IsZero() || s.Age > f.maxAge || f.drains && s.Drain == nil {
		s.Err = f.silence(newest)
	}
	return s, fresh
}

// silence says why there is no valid reading.
func (f *feed) silence(newest time.Time) error {
	switch {
	case f.polls == 0:
		return fmt.Errorf("%w: source %q has not answered yet", ErrStale, f.name)
	case f.err != nil:
		return fmt.Errorf("%w: source %q: %w", ErrStale, f.name, f.err)
	case newest.IsZero():
		return fmt.Errorf("%w: source %q has reported nothing yet", ErrStale, f.name)
	}
	return fmt.Errorf("%w: source %q has reported nothing new for %v", ErrStale, f.name, f.maxAge)
}

// change returns the change since the last call. A source that may still give its first reading in
// time, such as a source that compares two polls, is no change.
func (f *feed) change(began, now time.Time) (Kind, error) {
	s, fresh := f.status(now)
	kind := CameBack
	switch {
	case s.Missing:
		kind = WentMissing
	case s.Err != nil && now.Sub(began) <= f.maxAge && fresh:
		return 0, nil
	case s.Err != nil:
		kind = WentStale
	}
	before := f.told
	f.told = kind
	if before == kind || before == 0 && kind == CameBack {
		return 0, nil
	}
	return kind, s.Err
}
