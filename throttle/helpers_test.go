package throttle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// A plant is a store that is simulated in its Poll: it is given the writes and
// says how loaded it is.
type plant struct {
	mu     sync.Mutex
	poll   func() (load.Sample, error)
	writes float64 // cost since the last poll
}

func (p *plant) Name() string { return "plant" }

func (p *plant) TellsDrain() bool { return true }

func (p *plant) Poll(context.Context) (load.Sample, error) {
	p.mu.Lock()
	poll := p.poll
	p.mu.Unlock()
	return poll()
}

// taken is the amount written since the last call.
func (p *plant) taken() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	writes := p.writes
	p.writes = 0
	return writes
}

func (p *plant) write(cost float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes += cost
}

// become replaces the plant's readings.
func (p *plant) become(poll func() (load.Sample, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.poll = poll
}

// says sets its load.
func (p *plant) says(y float64) {
	p.become(func() (load.Sample, error) { return sampled(y), nil })
}

func sampled(y float64) load.Sample {
	return load.Sample{Readings: []load.Reading{{Name: "load", Value: y, Limit: 1}}}
}

// A rig is a throttle and a monitor that run.
type rig struct {
	*throttle.Throttle
	t      *testing.T
	plant  *plant
	stop   context.CancelFunc
	ended  chan error
	mu     sync.Mutex
	events []throttle.Event
}

// monitor returns a monitor of the sources, which is not running.
func monitor(t *testing.T, sources ...load.Source) *load.Monitor {
	t.Helper()
	return must.Have(load.New(load.Config{Sources: sources}))(t)
}

// throttled returns a throttle, which is not running.
func throttled(t *testing.T, c throttle.Config) *throttle.Throttle {
	t.Helper()
	return must.Have(throttle.New(c))(t)
}

// run starts a throttle on a plant, and perhaps others, within a bubble.
func run(t *testing.T, p *plant, c throttle.Config, others ...load.Source) *rig {
	t.Helper()
	r := &rig{t: t, plant: p, ended: make(chan error, 2)}
	c.Monitor = monitor(t, append(others, p)...)
	c.OnEvent = func(e throttle.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	r.Throttle = throttled(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() { r.ended <- c.Monitor.Run(ctx) }()
	synctest.Wait() // the first poll
	go func() { r.ended <- r.Run(ctx) }()
	t.Cleanup(func() { cancel(); r.Close(); time.Sleep(3 * time.Second) }) // both have said farewell
	return r
}

// loaded starts a throttle on a plant with a load.
func loaded(t *testing.T, y float64, c throttle.Config) *rig {
	t.Helper()
	p := &plant{}
	p.says(y)
	return run(t, p, c)
}

func (r *rig) kinds() (kinds []throttle.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func (r *rig) had(kind throttle.Kind) bool {
	return slices.Contains(r.kinds(), kind)
}

// closedLoop runs writers that each write again and again, until the time is over. It returns the
// number of writes.
func (r *rig) closedLoop(writers int, each, during time.Duration) int64 {
	ctx, cancel := context.WithTimeout(r.t.Context(), during)
	defer cancel()
	var writes atomic.Int64
	together.Do(writers, func(int) {
		for ctx.Err() == nil {
			err := r.Do(ctx, throttle.Write, 1, func(context.Context) error {
				time.Sleep(each)
				return nil
			})
			switch {
			case err == nil:
				writes.Add(1)
				r.plant.write(1)
			case errors.Is(err, weir.ErrRefused):
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		}
	})
	return writes.Load()
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
