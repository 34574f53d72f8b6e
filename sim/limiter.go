package sim

import (
	"strings"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/law"
)

// A Limiter holds the settings of a limiter, with the defaults of weir.Config.
type Limiter struct {
	// Law controls the limit unless [Run] is given a law. Defaults to law.Fixed.
	Law law.Law `json:"law,omitempty"`

	// Min and Max bound the limit, which starts at Initial. Min defaults to 1, and Max to 100000.
	// Initial defaults to 4 with law.Setpoint, to 20 with other laws, or to the nearer bound.
	Min     int `json:"min,omitempty" range:"[0,1e9]"`
	Max     int `json:"max,omitempty" range:"[0,1e9]"`
	Initial int `json:"initial,omitempty" range:"[0,1e9]"`

	// Interval is the time between decisions of the law. A decision needs at least MinSamples
	// completions within the last Window. Interval defaults to 1 s, MinSamples to 20 and Window to
	// 10 s.
	Interval   time.Duration `json:"interval,omitempty" range:"[0s,10000h]"`
	Window     time.Duration `json:"window,omitempty" range:"[0s,10000h]"`
	MinSamples int           `json:"min_samples,omitempty" range:"[0,1e9]"`

	// Queue configures the queue of waiting requests. Defaults to no queue.
	Queue Queue `json:"queue,omitzero"`

	// Shadow admits everything and counts the requests that a live limiter would refuse,
	// as [Result].WouldRefuse.
	Shadow bool `json:"shadow,omitempty"`
}

// A Queue holds the settings of a limiter's queue.
type Queue struct {
	// Size is the number of requests that may wait. 0 means no queue or, with Adaptive, a queue
	// without this bound.
	Size int `json:"size,omitempty" range:"[0,1e9]"`

	// Timeout is the longest wait. Defaults to 1 s.
	Timeout time.Duration `json:"timeout,omitempty" range:"[0s,10000h]"`

	// Adaptive serves the earliest deadline first. Once requests wait for too long, it serves the
	// newest request first.
	Adaptive bool `json:"adaptive,omitempty"`
}

// complete fills in the defaults of weir.Config.
func (l Limiter) complete() Limiter {
	if l.Law == nil {
		l.Law = law.Fixed{}
	}
	s := l.shared().Complete()
	l.Min, l.Max, l.Initial = s.Min, s.Max, s.Initial
	l.Interval, l.Window, l.MinSamples = s.Interval, s.Window, s.MinSamples
	l.Queue.Timeout = s.QueueTimeout
	return l
}

// consistent checks the complete settings of a limiter against one another.
func (l Limiter) consistent() error {
	f := l.shared().Check(strings.ToLower)
	if f == nil {
		return nil
	}
	return fieldError("limiter."+f.Field, "is %v: want %s", f.Value, f.Want)
}

func (l Limiter) shared() settings.Limiter {
	return settings.Limiter{
		Start: law.Start(l.Law), Min: l.Min, Max: l.Max, Initial: l.Initial,
		Interval: l.Interval, Window: l.Window, MinSamples: l.MinSamples, QueueTimeout: l.Queue.Timeout,
	}
}

func (l Limiter) settings() admit.Settings {
	order := queue.FIFO
	if l.Queue.Adaptive {
		order = queue.Adaptive
	}
	return admit.Settings{
		Bounds:       law.Bounds{Min: l.Min, Max: l.Max, Initial: l.Initial},
		Interval:     l.Interval,
		Lookback:     l.Window,
		MinSamples:   l.MinSamples,
		QueueSize:    l.Queue.Size,
		QueueTimeout: l.Queue.Timeout,
		Order:        order,
		Shadow:       l.Shadow,
		Observed:     true, // the simulation records every change of the limit
	}
}
