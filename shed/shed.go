package shed

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/load"
)

// A Shedder refuses work by the level of a monitor. Make one with [New]. All methods are safe for
// concurrent use.
type Shedder struct {
	name    string
	monitor *load.Monitor
	level   atomic.Pointer[level]

	mu    sync.Mutex
	shed  Snapshot
	owing [3]float64 // the sum of the shares, less the refusals
}

type level struct {
	at   time.Time
	load float64 // 0 if unknown
}

// freshness is how long a level is used before the monitor is asked again: a tenth of the
// monitor's default time between two polls. Asking it allocates, and takes locks that all requests
// share.
const freshness = 10 * time.Millisecond

// retryAfter is the time after which shed work may come back. The monitor has polled its sources
// ten times by then.
const retryAfter = time.Second

// New returns a shedder that follows the monitor. Its owner runs the monitor. The error
// matches [weir.ErrConfig].
func New(monitor *load.Monitor, cfg Config) (*Shedder, error) {
	if monitor == nil {
		return nil, settings.Invalid(weir.ErrConfig, "shed: monitor", "nil", "a load.Monitor, which its owner runs")
	}
	return &Shedder{name: cmp.Or(cfg.Name, "load"), monitor: monitor}, nil
}

// Full returns a [*weir.RefusedError] with [weir.ReasonOverload] if work of the context's
// priority must be refused, and nil otherwise. The refusal is counted. A nil ctx counts as
// context.Background.
func (s *Shedder) Full(ctx context.Context) error { return s.full(ctx, false) }

// full does the work of Full. If comesAgain is set, the same work will ask again, so only a refusal
// uses up its share now: to use the share both times would refuse twice as much work.
func (s *Shedder) full(ctx context.Context, comesAgain bool) error {
	load := s.load()
	if load < marks[0].from {
		return nil
	}
	priority := min(max(weir.PriorityFrom(ctx), weir.PriorityCritical), weir.PriorityLow)
	if priority == weir.PriorityCritical || !s.refuses(priority, load, comesAgain) {
		return nil
	}
	return &weir.RefusedError{Limiter: s.name, Reason: weir.ReasonOverload, RetryAfter: retryAfter}
}

// load returns a reading of the monitor that is at most freshness old.
func (s *Shedder) load() float64 {
	now := time.Now()
	known := s.level.Load()
	if known != nil && now.Sub(known.at) < freshness {
		return known.load
	}
	l := s.monitor.Level(load.All) // its Load is 0 if no source is valid
	s.level.Store(&level{now, l.Load})
	return l.Load
}

// refuses spreads refusals evenly over the work of a priority.
func (s *Shedder) refuses(p weir.Priority, load float64, comesAgain bool) bool {
	i := int(weir.PriorityLow - p)
	share := marks[i].share(load)
	if share == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	owing := s.owing[i] + share
	if owing < 1 {
		if !comesAgain {
			s.owing[i] = owing
		}
		return false
	}
	s.owing[i] = owing - 1
	*[...]*uint64{&s.shed.Low, &s.shed.Normal, &s.shed.High}[i]++
	return true
}

// A Snapshot is the state of a [Shedder] at one moment.
type Snapshot struct {
	Load              float64 // the monitor's reading, 0 if unknown
	Low, Normal, High uint64  // work of the priority refused so far
}

// Snapshot returns the state. Reading changes nothing.
func (s *Shedder) Snapshot() Snapshot {
	load := s.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	shed := s.shed
	shed.Load = load
	return shed
}

// String returns the snapshot as JSON, which makes a Shedder an expvar.Var.
func (s *Shedder) String() string { return wire.String(s.Snapshot()) }

// Config configures [New]. The zero Config works.
type Config struct {
	// Name is the [weir.RefusedError].Limiter in refusals. Defaults to "load".
	Name string
}

// A mark is the load from which some of the work is refused, and the load from which all of the
// work is refused.
type mark struct{ from, to float64 }

// marks has the marks of low, normal and high work. Work of a priority is shed only once all work
// of the next lower priority is refused. Critical work is never shed.
var marks = [...]mark{{1, 1.2}, {1.2, 1.5}, {1.5, 2}}

func (m mark) share(load float64) float64 {
	switch {
	case load < m.from:
		return 0
	case load >= m.to:
		return 1
	}
	return (load - m.from) / (m.to - m.from)
}
