package bench

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/window"
)

// BenchmarkContended measures the cost for callers that only take and give back, with a
// limiter and with cores that share their state in other ways. The cores count up to a limit,
// and measure each call with the meter of a limiter. They have nothing else: no queue, no
// closing of windows, no ages of running work. So each is the least cost of its way.
//
//	go test -run '^$' -bench Contended -cpu 2 -count 5 ./internal/bench
func BenchmarkContended(b *testing.B) {
	lim := weir.Must(weir.New(weir.Config{Min: 1000}))
	for _, way := range []struct {
		name string
		pass func()
	}{
		{"limiter", func() {
			if permit, err := lim.TryAcquire(context.Background()); err == nil {
				permit.Done(nil)
			}
		}},
		{"one lock taken twice, nothing measured", new(lockAlone).pass},
		{"one lock taken twice", newLockedCore().pass},
		{"count in front of the lock", newCountedCore().pass},
		{"meter for each processor", newSpreadCore().pass},
		{"combining", newCombiningCore().pass},
	} {
		b.Run(way.name, func(b *testing.B) { againstFloor(b, 64, way.pass) })
	}
}

const mostOfCore = 1000

func clock() int64 { return int64(time.Since(start)) }

func newBookMeter() *window.Meter { return window.New(clock(), 10*time.Second) }

// book measures a call as a limiter does, but at once.
func book(m *window.Meter, began, now int64, inflight int) {
	m.Flow(began, inflight, false)
	m.Start(began, inflight)
	m.Flow(now, inflight, false)
	m.Done(began, now, 1, window.Success)
}

// A lockAlone shows the cost of the lock itself.
type lockAlone struct {
	spinLock
	inflight int
}

func (c *lockAlone) pass() {
	clock()
	c.lock()
	c.inflight++
	c.Unlock()
	clock()
	c.lock()
	c.inflight--
	c.Unlock()
}

// A spinLock is locked as a limiter locks its own.
type spinLock struct{ sync.Mutex }

func (l *spinLock) lock() {
	for range 8 {
		for range 30 {
			if l.TryLock() {
				return
			}
		}
		runtime.Gosched()
	}
	l.Lock()
}

// A lockedCore works as a limiter does: all under one lock, taken twice.
type lockedCore struct {
	spinLock
	inflight int
	meter    *window.Meter
}

func newLockedCore() *lockedCore { return &lockedCore{meter: newBookMeter()} }

func (c *lockedCore) pass() {
	began := clock()
	c.lock()
	admitted := c.start(began)
	c.Unlock()
	if !admitted {
		return
	}
	now := clock()
	c.lock()
	c.end(began, now)
	c.Unlock()
}

func (c *lockedCore) start(now int64) (admitted bool) {
	if c.inflight == mostOfCore {
		return false
	}
	c.meter.Flow(now, c.inflight, false)
	c.inflight++
	c.meter.Start(now, c.inflight)
	return true
}

func (c *lockedCore) end(began, now int64) {
	c.meter.Flow(now, c.inflight, false)
	c.inflight--
	c.meter.Done(began, now, 1, window.Success)
}

// A count is the work in flight in a word of its own.
type count struct{ inflight atomic.Int64 }

func (c *count) up() (inflight int, admitted bool) {
	for {
		n := c.inflight.Load()
		if n == mostOfCore {
			return 0, false
		}
		if c.inflight.CompareAndSwap(n, n+1) {
			return int(n + 1), true
		}
	}
}

func (c *count) down() { c.inflight.Add(-1) }

// A countedCore admits by an atomic word, and takes the lock once, to measure.
type countedCore struct {
	count
	spinLock
	meter *window.Meter
}

func newCountedCore() *countedCore { return &countedCore{meter: newBookMeter()} }

func (c *countedCore) pass() {
	began := clock()
	inflight, admitted := c.up()
	if !admitted {
		return
	}
	now := clock()
	c.lock()
	book(c.meter, began, now, inflight)
	c.Unlock()
	c.down()
}

// A spreadCore admits by an atomic word too, and measures with a meter for each processor,
// simulated by a pool. To close a window, a limiter would have to find and add up all of
// them.
type spreadCore struct {
	count
	meters sync.Pool
}

func newSpreadCore() *spreadCore {
	return &spreadCore{meters: sync.Pool{New: func() any { return newBookMeter() }}}
}

func (c *spreadCore) pass() {
	began := clock()
	inflight, admitted := c.up()
	if !admitted {
		return
	}
	now := clock()
	m := c.meters.Get().(*window.Meter)
	book(m, began, now, inflight)
	c.meters.Put(m)
	c.down()
}

// A combiningCore makes the holder of the lock do the work of the goroutines that found it
// taken (flat combining: Hendler, Incze, Shavit and Tzafrir, 2010).
type combiningCore struct {
	lockedCore
	asked    atomic.Pointer[request] // a stack
	requests sync.Pool
}

type request struct {
	began, now int64 // now is 0 for a start
	admitted   bool
	answered   atomic.Bool
	next       *request
}

func newCombiningCore() *combiningCore {
	return &combiningCore{lockedCore: *newLockedCore(), requests: sync.Pool{New: func() any { return new(request) }}}
}

func (c *combiningCore) pass() {
	r := c.requests.Get().(*request)
	defer c.requests.Put(r)
	r.began, r.now = clock(), 0
	if c.ask(r); r.admitted {
		r.now = clock()
		c.ask(r)
	}
}

// ask returns when r is answered. If the lock is free nothing is handed over.
func (c *combiningCore) ask(r *request) {
	if c.TryLock() {
		c.answer(r)
		c.answerAll()
		c.Unlock()
		return
	}
	r.answered.Store(false)
	for {
		top := c.asked.Load()
		r.next = top
		if c.asked.CompareAndSwap(top, r) {
			break
		}
	}
	for tries := 1; !r.answered.Load(); tries++ {
		if c.TryLock() {
			c.answerAll()
			c.Unlock()
		} else if tries%30 == 0 {
			runtime.Gosched()
		}
	}
}

func (c *combiningCore) answerAll() {
	for r := c.asked.Swap(nil); r != nil; {
		next := r.next
		c.answer(r)
		r.answered.Store(true)
		r = next
	}
}

func (c *combiningCore) answer(r *request) {
	if r.now == 0 {
		r.admitted = c.start(r.began)
		return
	}
	c.end(r.began, r.now)
}
