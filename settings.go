package weir

import (
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/law"
)

// settings returns what the core is told of a complete configuration. The rest is its face.
func (c Config) settings() admit.Settings {
	return admit.Settings{
		Name:         c.Name,
		Bounds:       law.Bounds{Min: c.Min, Max: c.Max, Initial: c.Initial},
		Interval:     c.Interval,
		Lookback:     c.Window,
		MinSamples:   c.MinSamples,
		QueueSize:    c.Queue.Size,
		QueueTimeout: c.Queue.Timeout,
		Order:        queue.Order(c.Queue.Discipline),
		Lanes:        lanes,
		Tenants:      c.Queue.Tenants,
		Shadow:       c.Shadow,
		Observed:     c.OnEvent != nil,
		Cumulative:   c.Histograms,
		Wall:         time.Now,
	}
}

// Config returns the configuration at work: that of [New] or of the last [Limiter.Update], with the defaults
// filled in for what it left out. Functions that it left out are nil. It is a copy, so to change one
// setting of a running limiter change it there and give it to Update; a bound that
// passes Initial, or an Interval that passes Window, takes that along only if it is changed too.
//
// What changes by itself or by other means is in the [Snapshot]: the limit, of which Initial is only where it
// started, and what [Limiter.SetCap] set.
func (l *Limiter) Config() Config {
	for {
		f := l.face.Load()
		s := l.node.Settings()
		if l.face.Load() == f { // both of one update
			return f.config(s)
		}
	}
}

// config is the inverse of Config.face and Config.settings.
func (f *face) config(s admit.Settings) Config {
	c := Config{
		Name:       f.name,
		Min:        s.Bounds.Min,
		Max:        s.Bounds.Max,
		Initial:    s.Bounds.Initial,
		Law:        f.law,
		Interval:   s.Interval,
		Window:     s.Lookback,
		MinSamples: s.MinSamples,
		Queue: Queue{
			Size:       s.QueueSize,
			Timeout:    s.QueueTimeout,
			Discipline: Discipline(s.Order),
			Tenants:    s.Tenants,
		},
		Timeout:  f.timeout,
		Classify: f.classify,
		OnEvent:  f.hook(),
		Shadow:   s.Shadow,
	}
	if r := f.rare; r != nil {
		c.Breaker, c.Histograms = r.breaker, r.measures
		if r.exemplars != nil {
			c.Exemplar = r.exemplars.label
		}
	}
	return c
}
