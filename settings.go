package weir

import (
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/law"
)

// config is the part of the configuration that the core does not know. It is
// replaced as a whole.
type config struct {
	name     string
	law      law.Law
	timeout  time.Duration
	classify func(error) Outcome // nil for Classify
	onEvent  func(Event)         // Config.OnEvent
	cold     *coldConfig         // nil for most
}

// coldConfig is the part of a config that few limiters have. It is separate because a process may
// have many limiters, which should be small.
type coldConfig struct {
	breaker   Breaker // nil without one
	tenants   bool
	measures  bool       // Config.Histograms
	exemplars *exemplars // nil without any
}

// settings returns the core's part of a complete configuration, with an allocation in a group if
// the allocation is to change. The method config returns the other part.
func (c Config) settings(a *admit.Allocation) admit.Settings {
	return admit.Settings{
		Allocation:   a,
		Bounds:       law.Bounds{Min: c.Min, Max: c.Max, Initial: c.Initial},
		Interval:     c.Interval,
		Lookback:     c.Window,
		MinSamples:   c.MinSamples,
		QueueSize:    c.Queue.Size,
		QueueTimeout: c.Queue.Timeout,
		Order:        queue.Order(c.Queue.Discipline),
		Tenants:      c.Queue.Tenants,
		Shadow:       c.Shadow,
		Observed:     c.OnEvent != nil,
		Cumulative:   c.Histograms,
		Wall:         time.Now,
	}
}

// config returns the part of a complete configuration that the core does not know.
func (c Config) config() *config {
	cold := &coldConfig{
		breaker:   c.Breaker,
		tenants:   c.Queue.Tenants > 0,
		measures:  c.Histograms,
		exemplars: newExemplars(c.Exemplar),
	}
	if *cold == (coldConfig{}) {
		cold = nil // Acquire takes the fast path
	}
	return &config{
		name:     c.Name,
		law:      c.Law,
		timeout:  c.Timeout,
		classify: c.Classify,
		onEvent:  c.OnEvent,
		cold:     cold,
	}
}

// Config returns a copy of the configuration that [New] or the last [Limiter.Update] applied, with
// the defaults filled in. Functions that were not set are nil. To change one setting of a running
// limiter, change the setting in the copy and pass the copy to Update. Update rejects an Initial
// outside Min and Max, and a Window shorter than Interval: if a change of another setting has this
// effect, change Initial or Window too, or set it to 0 for the default. To remove the queue, set
// Queue to Queue{}; without Histograms, Exemplar must be nil.
//
// The [Snapshot] has the state that changes without an update: the current limit, which starts at
// Initial, and the cap of [Limiter.SetCap].
func (l *Limiter) Config() Config {
	for {
		conf := l.config.Load()
		s := l.node.Settings()
		if l.config.Load() == conf { // both come from one update
			return conf.public(s)
		}
	}
}

// public is the inverse of Config.config and Config.settings.
func (c *config) public(s admit.Settings) Config {
	full := Config{
		Name:       c.name,
		Min:        s.Bounds.Min,
		Max:        s.Bounds.Max,
		Initial:    s.Bounds.Initial,
		Law:        c.law,
		Interval:   s.Interval,
		Window:     s.Lookback,
		MinSamples: s.MinSamples,
		Queue: Queue{
			Size:       s.QueueSize,
			Timeout:    s.QueueTimeout,
			Discipline: Discipline(s.Order),
			Tenants:    s.Tenants,
		},
		Timeout:  c.timeout,
		Classify: c.classify,
		OnEvent:  c.onEvent,
		Shadow:   s.Shadow,
	}
	if cold := c.cold; cold != nil {
		full.Breaker, full.Histograms = cold.breaker, cold.measures
		if cold.exemplars != nil {
			full.Exemplar = cold.exemplars.label
		}
	}
	return full
}
