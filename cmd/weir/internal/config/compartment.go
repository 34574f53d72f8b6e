package config

import (
	"time"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/internal/settings"
)

// Compartment is a limit and its queue. Missing settings have the library's defaults.
type Compartment struct {
	Law        Law      `yaml:"law" default:"setpoint" help:"The control law that finds the limit, such as setpoint or band(target=100ms)."`
	Min        int      `yaml:"min,omitempty" min:"1" help:"Least limit. Defaults to 1."`
	Max        int      `yaml:"max,omitempty" min:"1" help:"Greatest limit. Defaults to 100000."`
	Initial    int      `yaml:"initial,omitempty" min:"1" help:"Limit to start from. Defaults to 4 with setpoint, to 20 with other laws, or to the nearer bound."`
	Interval   Duration `yaml:"interval,omitempty" min:"1ms" help:"How often the law decides. Defaults to 1s."`
	Window     Duration `yaml:"window,omitempty" min:"1ms" help:"How far back the law looks. Defaults to 10s, or to interval if that is longer."`
	MinSamples int      `yaml:"min_samples,omitempty" min:"1" help:"The least number of answers for a decision. Defaults to 20."`
	Queue      Queue    `yaml:"queue" help:"Where requests wait while the limit is reached."`

	Reserved int      `yaml:"reserved" help:"Slots of the cap for this compartment alone."`
	Share    float64  `yaml:"share" default:"1" min:"0.001" max:"1000" help:"The weight of this compartment when all together want more than the cap."`
	Budget   Duration `yaml:"budget" help:"The p95 latency above which the compartment loses slots. 0 is no budget."`
	Breaker  *Breaker `yaml:"breaker,omitempty" help:"Refuses requests at once while the upstream fails."`
	Shadow   bool     `yaml:"shadow" help:"Admits every request, and counts those that the limit would refuse."`
}

// Queue holds waiting requests.
type Queue struct {
	Size    int      `yaml:"size" default:"1000" help:"How many requests may wait; 0 is no queue."`
	Timeout Duration `yaml:"timeout,omitempty" min:"1ms" help:"How long a request may wait, and half as long in an adaptive queue that does not empty. Defaults to 1s."`
	Order   string   `yaml:"order" enum:"fifo,adaptive" default:"adaptive" help:"The order of service. adaptive serves the earliest deadline first. Once the oldest requests have waited for half of their time, it serves the newest first and refuses the oldest."`
	Tenants int      `yaml:"tenants" max:"1024" help:"How many tenants with work have a share each; further tenants share one. 0 is no shares."`
}

// Breaker opens when too many requests fail. A reload can add or remove a breaker, but keeps the
// state of an existing breaker, and so its settings.
type Breaker struct {
	Failures int      `yaml:"failures" default:"5" min:"1" live:"no" help:"Failures in a row that open the breaker."`
	Open     Duration `yaml:"open" default:"10s" min:"1ms" live:"no" help:"How long the breaker stays open before it admits requests as a trial."`
	Probes   int      `yaml:"probes" default:"1" min:"1" live:"no" help:"How many requests it then admits."`
}

func (c *checker) compartments() {
	used := map[string]bool{}
	for _, r := range c.Routes {
		used[r.Compartment] = true
	}
	reserved := 0
	for _, name := range sortedKeysOf(c.Compartments) {
		own, path := c.Compartments[name], join("compartments", name)
		if !used[name] && !c.faults.touch("routes") {
			c.refuse(path, "has no route: %s", nearest.Advice(name, sortedKeysOf(used)))
		}
		c.compartmentAlone(own, path)
		switch reserved += own.Reserved; {
		case own.Reserved > 0 && c.Max == 0:
			c.isnt(path+".reserved", own.Reserved, "0 without a cap: set max")
		case reserved > c.Max && c.Max > 0:
			c.isnt(path+".reserved", own.Reserved, "at most what is left of max: all reserve "+show(reserved)+" of "+show(c.Max))
		}
	}
}

// spelling maps a limiter's settings to their names in the file.
var spelling = map[string]string{
	"Min": "min", "Max": "max", "Initial": "initial", "Interval": "interval", "Window": "window",
}

// compartmentAlone makes the checks of bulkhead.New, with the name of the field. FuzzParse looks
// for checks that it misses.
func (c *checker) compartmentAlone(own Compartment, path string) {
	if !own.Queue.holds() {
		const want = "none without a queue: set size"
		if own.Queue.Timeout > 0 {
			c.isnt(path+".queue.timeout", own.Queue.Timeout, want)
		}
		if own.Queue.Tenants > 0 {
			c.isnt(path+".queue.tenants", own.Queue.Tenants, want)
		}
	}
	shared := settings.Limiter{
		Min: own.Min, Max: own.Max, Initial: own.Initial,
		Interval: time.Duration(own.Interval), Window: time.Duration(own.Window),
	}.Complete()
	if f := shared.Check(func(name string) string { return spelling[name] }); f != nil {
		c.isnt(path+"."+f.Field, f.Value, f.Want)
	}
	if own.Reserved > shared.Max {
		c.isnt(path+".reserved", own.Reserved, "at most max of the compartment, which is "+show(shared.Max))
	}
}
