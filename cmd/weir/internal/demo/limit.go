package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// These figures describe the server. Its capacity at full speed is workers/service, 100 requests a
// second.
const (
	workers = 5
	service = 50 * time.Millisecond
	slow    = 30 // percent of full speed
)

// These figures describe the clients. An answer is useful until the deadline.
const (
	overload = 1.5 // times the server's capacity at full speed
	deadline = 500 * time.Millisecond
)

// goodDay is the fixed limit. A load test at full speed finds 100 answers a second within 300 ms
// under it.
const goodDay = 30

// aim is the law of the adaptive limit: the default law, with the deadline as its budget.
var aim = law.Setpoint{Budget: deadline}

// phases are the thirds of the run, each with its speed of the server.
var phases = [...]struct {
	name    string
	percent int64
}{{"full", 100}, {"slow", slow}, {"full", 100}}

type course time.Duration

func (c course) third() time.Duration { return time.Duration(c) / time.Duration(len(phases)) }

func (c course) phase(at time.Duration) int { return min(int(at/c.third()), len(phases)-1) }

// fate draws the service time at the speed of the phase.
func (c course) fate(r *rand.Rand, at time.Duration) (takes time.Duration, fails bool) {
	return around(r, service) * 100 / time.Duration(phases[c.phase(at)].percent), false
}

// lanes are the three servers. The first has no limit. The second has the limit that a load test on
// a good day would suggest: the server is at its capacity, and answers well within the deadline.
// The third has a limit that knows the deadline of answers, and nothing about the server.
var lanes = [...]struct {
	name  string
	limit *weir.Config // nil for no limit
}{
	{"none", nil},
	{"fixed", &weir.Config{Name: "fixed", Law: law.Fixed{}, Initial: goodDay, Queue: queue, Histograms: true}},
	{"adaptive", &weir.Config{Name: "adaptive", Law: aim, Queue: queue, Histograms: true}},
}

// Run shows the effect of a limit on three identical servers.
func Run(ctx context.Context, cfg Config) error {
	length := course(cfg.Duration)
	d := &demonstration{
		text:   limitText(cfg.Duration),
		start:  time.Now(),
		routes: []route{{pattern: "GET /", rate: overload * float64(capacity()), takes: service, deadline: deadline}},
		part:   length.phase,
		aside:  "limit  last change of the limit",
	}
	for _, phase := range phases {
		d.parts = append(d.parts, phase.name)
	}
	var limiters []*weir.Limiter
	for _, lane := range lanes {
		s := &server{name: lane.name, pool: newPool(d.start, workers, false)}
		s.handler = s.pool.serve(length.fate)
		if lane.limit != nil {
			lim, err := weir.New(*lane.limit)
			if err != nil {
				return err
			}
			defer lim.Close()
			limiters = append(limiters, lim)
			s.handler = weirhttp.Limit(s.handler, weirhttp.One(lim))
		}
		d.servers = append(d.servers, s)
	}
	d.limited = dash.Limiters(limiters...)
	adaptive := limiters[len(limiters)-1]
	d.watch = func() string { return fmt.Sprintf("%5d  %s", adaptive.Snapshot().Limit, lastChange(adaptive)) }
	return d.show(ctx, cfg)
}

func limitText(duration time.Duration) string {
	return fmt.Sprintf(`Three servers on loopback, %d workers each: about %d requests/s at full speed.
Each gets the same %.0f requests/s for %v. In the middle third all of them
slow down to %d%%. An answer counts if it arrives within %v; a client gives up
after %v, but a server still finishes each request that it has accepted.

  none      no limit
  fixed     at most %d in flight: right on the day of the load test
  adaptive  %v: knows when an answer is too late,
            and nothing of the server

fixed and adaptive have a queue of %d, for %v at most. A server can answer
%.0f%% in time, and %.0f%% while it is slow.
`, workers, capacity(), overload*float64(capacity()), duration, slow, deadline, patience, goodDay, aim, queue.Size, queue.Timeout,
		100/overload, slow/overload)
}

func capacity() int { return int(workers / service.Seconds()) }

// lastChange returns the last change of a limit with its reason, or an empty text.
func lastChange(lim *weir.Limiter) string {
	changes := lim.History()
	if len(changes) == 0 {
		return ""
	}
	return changes[len(changes)-1].String()
}
