package pool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/settings"
)

// Config configures a [Pool]. Capacity and Source must be set; 0 always means the
// default, and a value out of range is an error that names the field.
type Config struct {
	// Capacity has the resources that tasks need to run. Other work may use it too: the pool queues
	// with that work.
	Capacity *capacity.Capacity

	// Source is where the tasks come from.
	Source Source

	// Cost is the need of a task that names no cost. Defaults to 1 of the only resource of the
	// Capacity, or of "slots" if it has several.
	Cost capacity.Vector

	// Scaler sizes the resource that Cost defaults to, and Scalers sizes resources by name, up to
	// the limits that New finds. They move the withheld part of the resource, which is restored
	// when the run ends. So no two pools may size the same resource: use a capacity.Capacity.Child
	// for each pool.
	Scaler  Scaler
	Scalers map[string]Scaler

	// Lookahead is the number of tasks that the pool claims in advance, to choose by priority among
	// them. It does not count tasks that wait for other tasks. Defaults to 64.
	Lookahead int

	// Backfill is the number of tasks that may overtake a task that does not fit yet. Then no other
	// task starts before it. Defaults to 16.
	Backfill int

	// Aging is the wait by which a task gains a step of priority. Defaults to 10 s; at most 1000 h.
	Aging time.Duration

	// Redeliver is the delay with which the lease of a failed task is given back. It doubles with
	// each delivery that the source counts, up to 1 h. Defaults to 30 s.
	Redeliver time.Duration

	// MaxAttempts bounds the deliveries of a task, if the source counts them ([Delivery].Attempt).
	// A task that fails at its last delivery is rejected, as a task whose error is [Permanent]. A
	// task that comes once more, because its worker died each time, is rejected without a run
	// ([ErrAttempts]). A delivery counts too if the end of a run gave the task back. Defaults to 0:
	// no bound.
	MaxAttempts int

	// StopOnError ends the run at the first task that fails for good. Otherwise the
	// run continues.
	StopOnError bool

	// Grace is how long a run that was stopped waits for tasks and sources that
	// ignore their context. Defaults to 30 s.
	Grace time.Duration

	// Buffer is the number of events that may wait for their reader, or until a lease is settled.
	// Above it no more tasks start. Defaults to 1024.
	Buffer int

	// History is the number of finished tasks that the pool remembers by key, for later tasks that
	// name them in [Task].After. Defaults to 10,000.
	History int
}

// withDefaults checks the settings as given, then fills in the defaults.
func (c Config) withDefaults() (Config, error) {
	if c.Capacity == nil {
		return c, invalid("Capacity", nil, "one from capacity.New")
	}
	if c.Source == nil {
		return c, invalid("Source", nil, "a source, such as Slice(tasks)")
	}
	if err := c.completeNumbers(); err != nil {
		return c, err
	}
	err := c.completeResources()
	return c, err
}

// completeNumbers checks the numbers and durations, and fills in zeros.
func (c *Config) completeNumbers() error {
	return cmp.Or(
		settings.Default(ErrConfig, "Lookahead", &c.Lookahead, 64),
		settings.Default(ErrConfig, "Backfill", &c.Backfill, 16),
		settings.Default(ErrConfig, "Buffer", &c.Buffer, 1024),
		settings.Default(ErrConfig, "History", &c.History, 10_000),
		settings.DefaultUpTo(ErrConfig, "Aging", &c.Aging, 10*time.Second, maxLong),
		settings.DefaultUpTo(ErrConfig, "Redeliver", &c.Redeliver, 30*time.Second, maxLong),
		settings.NotNegative(ErrConfig, "MaxAttempts", c.MaxAttempts, "0 (no bound) or more"),
		settings.DefaultUpTo(ErrConfig, "Grace", &c.Grace, 30*time.Second, maxLong),
	)
}

// redelivery returns the delay with which the lease of an item that failed goes back.
func (c *Config) redelivery(it *item) time.Duration {
	delay, most := c.Redeliver, max(time.Hour, c.Redeliver)
	for range it.delivered - 1 {
		if delay >= most/2 {
			return most
		}
		delay *= 2
	}
	return delay
}

// completeResources checks the settings that name resources of the Capacity. Cost and Scaler apply
// to the main resource by default.
func (c *Config) completeResources() error {
	names := slices.Sorted(maps.Keys(c.Capacity.Snapshot().Resources))
	main := "slots"
	if len(names) == 1 {
		main = names[0]
	}
	if c.Cost == nil {
		if !slices.Contains(names, main) {
			const want = `a vector, for the Capacity has several resources and none is "slots": %q`
			return invalid("Cost", nil, fmt.Sprintf(want, names))
		}
		c.Cost = capacity.Vector{main: 1}
	}
	c.Cost = maps.Clone(c.Cost)
	if c.Scaler != nil {
		if c.Scalers[main] != nil {
			return invalid("Scalers", fmt.Sprintf("%q twice", main), "either Scaler or Scalers for it")
		}
		c.Scalers = maps.Clone(c.Scalers)
		if c.Scalers == nil {
			c.Scalers = map[string]Scaler{}
		}
		c.Scalers[main] = c.Scaler
	}
	for name := range c.Scalers {
		if !slices.Contains(names, name) {
			return invalid("Scalers", fmt.Sprintf("for %q", name), fmt.Sprintf("one of %q", names))
		}
	}
	return nil
}

func invalid(field string, value any, want string) error {
	return settings.Invalid(ErrConfig, field, value, want)
}
