package storm

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/weir-go/weir/internal/storm"
)

// naive is the predecessor of package throttle, as it was written for a service, for
// comparison: a PID on the weighted sum of memory and load, updated by every tenth write,
// which then sleeps after its work for the PID's delay. Its faults are kept.
type naive struct {
	db *badger.DB

	mu     sync.Mutex
	writes int
	memory float64 // heap over a target of 1.5 GB
	load   float64
	pid    naivePID
}

const (
	naiveBatch  = 10
	naiveEvery  = 100 * time.Millisecond
	naiveTarget = 1500 << 20
)

func newNaive(db *badger.DB) *naive {
	return &naive{db: db, pid: naivePID{
		kp: 0.5, ki: 0.1, kd: 0.05, setpoint: 0.85, alpha: 0.2, least: -0.5, most: 2,
	}}
}

// monitor measures until ctx ends.
func (p *naive) monitor(ctx context.Context) {
	tick := time.NewTicker(naiveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		levels := p.db.Levels()
		score := 0.0
		for _, level := range levels {
			score = max(score, level.Score)
		}
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		p.mu.Lock()
		p.load = max(float64(levels[0].NumTables)/10, score/2)
		p.memory = float64(heap.HeapAlloc) / naiveTarget
		p.mu.Unlock()
	}
}

// gate does nothing before the work, and sleeps after it.
func (p *naive) gate(context.Context) (func(error), error) {
	return func(error) { p.throttle() }, nil
}

func (p *naive) throttle() {
	p.mu.Lock()
	p.writes++
	if p.writes%naiveBatch != 0 {
		p.mu.Unlock()
		return
	}
	memory := p.memory
	delay := p.pid.update(0.7*memory+0.3*p.load, time.Now())
	p.mu.Unlock()
	if delay > 0.1 {
		_ = p.db.Sync()
		if memory > 0.9 {
			debug.FreeOSMemory()
		}
	}
	storm.Pause(context.Background(), time.Duration(delay*float64(time.Second))) // nothing cancels it
}

type naivePID struct {
	kp, ki, kd, setpoint, alpha, least, most float64

	last               time.Time
	integral, filtered float64
}

// update returns the delay in seconds.
func (p *naivePID) update(value float64, now time.Time) float64 {
	if p.last.IsZero() {
		p.last = now
		return 0
	}
	dt := now.Sub(p.last).Seconds()
	if dt <= 0 {
		dt = 0.001
	}
	p.last = now
	e := value - p.setpoint
	p.integral = min(max(p.integral+e*dt, p.least), p.most)
	filtered := p.alpha*e + (1-p.alpha)*p.filtered
	derivative := (filtered - p.filtered) / dt
	p.filtered = filtered
	return min(max(p.kp*e+p.ki*p.integral+p.kd*derivative, 0), 1)
}
