package config

import (
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/weirbreaker"
)

// Bulkhead returns the limits of a complete configuration for [bulkhead.New] and
// [bulkhead.Set.Update]: the cap, and a key with histograms for each compartment that a route
// uses.
func (c *Config) Bulkhead() bulkhead.Config {
	made := bulkhead.Config{ByKey: map[string]bulkhead.Compartment{}, Max: c.Max}
	for _, r := range c.Routes {
		if r.Compartment != "" {
			made.ByKey[r.Compartment] = c.compartment(r.Compartment).bulkhead()
		}
	}
	return made
}

// compartment returns the settings of a compartment. A compartment that exists only as the
// name of its upstream has the defaults.
func (c *Config) compartment(name string) Compartment {
	if own, ok := c.Compartments[name]; ok {
		return own
	}
	return New[Compartment]()
}

func (c Compartment) bulkhead() bulkhead.Compartment {
	made := bulkhead.Compartment{
		Config: weir.Config{
			Min: c.Min, Max: c.Max, Initial: c.Initial,
			Law:      c.Law.Law,
			Interval: time.Duration(c.Interval), Window: time.Duration(c.Window), MinSamples: c.MinSamples,
			Queue:      c.Queue.weir(),
			Histograms: true,
			Shadow:     c.Shadow,
		},
		Reserved: c.Reserved, Share: c.Share, Budget: time.Duration(c.Budget),
	}
	if c.Breaker != nil {
		made.Breaker = weirbreaker.ByKey(c.Breaker.settings())
	}
	return made
}

// weir returns the queue of a limiter. A size of 0 means no queue in the file, but an
// adaptive queue of the default size in the library.
func (q Queue) weir() weir.Queue {
	if !q.holds() {
		return weir.Queue{}
	}
	discipline := weir.FIFO
	if q.Order == weir.Adaptive.String() {
		discipline = weir.Adaptive
	}
	return weir.Queue{Size: q.Size, Timeout: time.Duration(q.Timeout), Discipline: discipline, Tenants: q.Tenants}
}

func (b Breaker) settings() gobreaker.Settings {
	return gobreaker.Settings{
		MaxRequests: uint32(b.Probes),
		Timeout:     time.Duration(b.Open),
		ReadyToTrip: func(counts gobreaker.Counts) bool { return counts.ConsecutiveFailures >= uint32(b.Failures) },
	}
}

// holds reports whether requests may wait in the queue.
func (q Queue) holds() bool { return q.Size > 0 }
