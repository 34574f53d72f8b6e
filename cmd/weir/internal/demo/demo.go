// Package demo shows the effect of a limit: three identical servers side by side, under the
// same overload, with no limit, a fixed one and an adaptive one. All of it is real: HTTP over
// loopback, clients that give up, clocks.
package demo

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/figures"
	"github.com/weir-go/weir/law"
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

// Config says how to run the demonstration.
type Config struct {
	Duration time.Duration // from Shortest to Longest
	Out      io.Writer
	Color    bool

	// Size returns the size of the screen behind Out; nil if Out is no screen.
	Size func() (columns, rows int)
}

// Run shows the demonstration. It ends by itself, or early with ctx.
func Run(ctx context.Context, cfg Config) error {
	c := course(cfg.Duration)
	lanes, err := open(c)
	if err != nil {
		return err
	}
	defer lanes.close()

	view := cfg.view()
	view.begin(c)
	ran := lanes.run(ctx, c, view)
	view.end()
	printer{cfg.Out, cfg.Color}.compare(lanes.all(), c, ran)
	return nil
}

// lanes are the three compared lanes.
type lanes struct {
	none, fixed, adaptive *lane
}

func open(c course) (l lanes, err error) {
	if l.none, err = noLimit(c); err != nil {
		return l, err
	}
	if l.fixed, err = fixedLimit(c); err != nil {
		l.close()
		return l, err
	}
	if l.adaptive, err = adaptiveLimit(c); err != nil {
		l.close()
	}
	return l, err
}

func (l lanes) all() []*lane { return []*lane{l.none, l.fixed, l.adaptive} }

func (l lanes) close() {
	for _, lane := range l.all() {
		if lane != nil {
			lane.close()
		}
	}
}

// run puts all three under the same load and watches them, until the last client has its
// answer or ctx ends. It returns how far the load got.
func (l lanes) run(ctx context.Context, c course, v view) time.Duration {
	start := time.Now()
	requests := arrivals(0, overload*workers/service.Seconds(), time.Duration(c))
	var driving sync.WaitGroup
	for _, lane := range l.all() {
		driving.Go(func() { lane.load.drive(ctx, start, requests) })
	}
	answered := make(chan struct{})
	go func() { driving.Wait(); close(answered) }()
	l.watch(start, c, v, answered)
	return min(time.Since(start), time.Duration(c))
}

// watch changes the speed and shows each second until all requests are answered.
func (l lanes) watch(start time.Time, c course, v view, answered <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	third := time.NewTicker(c.third())
	defer third.Stop()
	meter, before := figures.NewMeter(l.adaptive.lim), l.goodput()
	for phase := 0; ; {
		select {
		case <-answered:
			return
		case <-third.C:
			if phase++; phase < len(phases) {
				l.setSpeed(phases[phase].percent)
			}
		case now := <-tick.C:
			after := l.goodput()
			v.show(second{now.Sub(start), phase, meter.Read(), [3]int{
				after[0] - before[0], after[1] - before[1], after[2] - before[2],
			}})
			before = after
		}
	}
}

func (l lanes) setSpeed(percent int64) {
	for _, lane := range l.all() {
		lane.backend.percent.Store(percent)
	}
}

// goodput returns the number of timely answers so far, by lane.
func (l lanes) goodput() [3]int {
	return [3]int{l.none.load.sum(good), l.fixed.load.sum(good), l.adaptive.load.sum(good)}
}
