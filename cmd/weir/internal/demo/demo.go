// Package demo shows the effect of a limit: three identical servers side by side, under the
// same overload, with no limit, a fixed one and an adaptive one. All of it is real: HTTP over
// loopback, clients that give up, clocks.
package demo

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirhttp"
)

// The server: its capacity at full speed is workers/service, 100 a second.
const (
	workers = 5
	service = 50 * time.Millisecond
	slow    = 30 // percent of full speed
)

// The clients: an answer is useful until deadline, and they leave after patience.
const (
	overload = 1.5 // times the server's capacity at full speed
	deadline = 500 * time.Millisecond
	patience = 2 * time.Second
	seed     = 20
)

// goodDay is the fixed limit: 100 a second within 300 ms, as found by a load test at full
// speed.
const goodDay = 30

// aim is the law of the adaptive limit: the default one, with the deadline as its budget.
var aim = law.Setpoint{Budget: deadline}

// queue is the same short queue before either limit.
var queue = weir.Queue{Size: 5, Timeout: 100 * time.Millisecond}

// The allowed durations.
const (
	Shortest = 3 * time.Second
	Longest  = time.Minute
)

// phases are the thirds of the run, by the server's speed.
var phases = [...]struct {
	name    string
	percent int64
}{{"full", 100}, {"slow", slow}, {"full", 100}}

// course is the duration of the run.
type course time.Duration

func (c course) third() time.Duration { return time.Duration(c) / time.Duration(len(phases)) }

func (c course) phase(at time.Duration) int { return min(int(at/c.third()), len(phases)-1) }

// fate draws the service time at the speed of the phase.
func (c course) fate(r *rand.Rand, at time.Duration) (takes time.Duration, fails bool) {
	return around(r, service) * 100 / time.Duration(phases[c.phase(at)].percent), false
}

// Config says how to run the demonstration.
type Config struct {
	Duration time.Duration // from Shortest to Longest
	Out      io.Writer

	// Look, if set, is called with what the demonstration limits, before the load begins.
	Look func(read func() []weir.Snapshot) error
}

func (cfg Config) look(read func() []weir.Snapshot) error {
	if cfg.Look == nil {
		return nil
	}
	return cfg.Look(read)
}

// lanes are the three servers: without a limit; with the limit that a load test on a good day
// would suggest, at which the server is at its capacity and answers well within the deadline;
// and with one that knows the deadline of answers, and nothing about the server.
var lanes = [...]struct {
	name  string
	limit *weir.Config // nil for no limit
}{
	{"no limit", nil},
	{fmt.Sprintf("fixed limit %d", goodDay), &weir.Config{Name: "fixed", Law: law.Fixed{}, Initial: goodDay, Queue: queue, Histograms: true}},
	{"adaptive", &weir.Config{Name: "adaptive", Law: aim, Queue: queue, Histograms: true}},
}

// Run shows the demonstration. It ends by itself, or early with ctx.
func Run(ctx context.Context, cfg Config) error {
	length := course(cfg.Duration)
	c := contest{start: time.Now(), arrivals: [][]time.Duration{arrivals(0, overload*workers/service.Seconds(), cfg.Duration)}}
	defer c.close()
	var limiters []*weir.Limiter
	for _, lane := range lanes {
		p := newPool(c.start, workers, false)
		var handler http.Handler = p.serve(length.fate)
		if lane.limit != nil {
			lim, err := weir.New(*lane.limit)
			if err != nil {
				return err
			}
			defer lim.Close()
			limiters = append(limiters, lim)
			handler = weirhttp.Limit(handler, weirhttp.One(lim))
		}
		if err := c.enter(p, handler, manner{"", deadline, patience, len(phases), length.phase}); err != nil {
			return err
		}
	}
	if err := cfg.look(dash.Limiters(limiters...)); err != nil {
		return err
	}
	adaptive := limiters[len(limiters)-1]
	out := printer{cfg.Out}
	out.introduce(cfg.Duration)
	ran := c.run(ctx, cfg.Duration, func(at time.Duration, gained [][]int) {
		s := second{at: at, phase: length.phase(at - time.Second/2), limit: adaptive.Snapshot().Limit, change: lastChange(adaptive)}
		if at-time.Second/2 >= cfg.Duration {
			s.phase = len(phases)
		}
		for i := range lanes {
			s.goodput[i] = gained[i][0]
		}
		out.second(s)
	})
	out.compare(c, length, ran)
	return nil
}

// lastChange is the last change of a limit, with its reason.
func lastChange(lim *weir.Limiter) string {
	changes := lim.History()
	if len(changes) == 0 {
		return ""
	}
	return changes[len(changes)-1].String()
}
