package shed

import (
	"cmp"
	"context"
	"fmt"
	"math"
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
	ranges  [3]Mark // of low, normal and high
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
// monitor's default time between two polls. Asking it takes 200 ns, an allocation and a lock
// that all requests share; not asking takes 50 ns (BenchmarkAdmit).
const freshness = 10 * time.Millisecond

// retryAfter is when shed work may come back: a load that was above its mark has had ten
// polls by then.
const retryAfter = time.Second

// New returns a shedder that follows the monitor. Its owner runs the monitor. The error
// matches [weir.ErrConfig].
func New(monitor *load.Monitor, cfg Config) (*Shedder, error) {
	if monitor == nil {
		return nil, settings.Invalid(weir.ErrConfig, "shed: monitor", "nil", "a load.Monitor, which its owner runs")
	}
	ranges, err := cfg.ranges()
	if err != nil {
		return nil, err
	}
	return &Shedder{name: cmp.Or(cfg.Name, "load"), monitor: monitor, ranges: ranges}, nil
}

// Full returns a [*weir.RefusedError] with [weir.ReasonOverload] if work of the context's
// priority must be refused, and nil otherwise. The refusal is counted. A nil ctx counts as
// context.Background.
func (s *Shedder) Full(ctx context.Context) error { return s.full(ctx, false) }

// full is Full. If comesAgain is set, the work will ask again, and only a refusal uses up the
// share: using it both times would refuse twice as much.
func (s *Shedder) full(ctx context.Context, comesAgain bool) error {
	load := s.load()
	if load < s.ranges[0].From {
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
	if known != nil && now.Sub(known.at).Abs() < freshness {
		return known.load
	}
	l := s.monitor.Level(load.All) // without a load if nothing is valid
	s.level.Store(&level{now, l.Load})
	return l.Load
}

// refuses spreads refusals evenly over the work of a priority.
func (s *Shedder) refuses(p weir.Priority, load float64, comesAgain bool) bool {
	i := int(weir.PriorityLow - p)
	share := s.ranges[i].share(load)
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

	// Low, Normal and High are the loads at which work of the priority is shed. The zero Mark
	// means the default: 1 to 1.2, 1.2 to 1.5 and 1.5 to 2. Critical work is never shed. From
	// must not be below that of the next lower priority.
	Low, Normal, High Mark
}

// A Mark is the load from which some of the work is refused, and the load from which all is.
type Mark struct {
	From, To float64 // From is above 0; To is at least From; both are finite
}

// defaults leave each priority alone until the next lower one is gone.
var defaults = [...]Mark{{1, 1.2}, {1.2, 1.5}, {1.5, 2}}

// ranges returns the ranges of low, normal and high.
func (c Config) ranges() (ranges [3]Mark, err error) {
	names := [...]string{"Low", "Normal", "High"}
	ranges = [...]Mark{c.Low, c.Normal, c.High}
	below := 0.0
	for i, r := range ranges {
		if r == (Mark{}) {
			r = defaults[i]
		}
		if !(r.From > 0 && r.To >= r.From && !math.IsInf(r.To, 1)) {
			return ranges, settings.Invalid(weir.ErrConfig, "shed: "+names[i], fmt.Sprintf("%v to %v", r.From, r.To),
				"zero (the default), or a From above 0 and a finite To that is at least From")
		}
		if r.From < below {
			return ranges, settings.Invalid(weir.ErrConfig, "shed: "+names[i]+".From", r.From,
				fmt.Sprintf("at least %v, that of %s: the less important goes first", below, names[i-1]))
		}
		ranges[i], below = r, r.From
	}
	return ranges, nil
}

func (r Mark) share(load float64) float64 {
	switch {
	case load < r.From:
		return 0
	case load >= r.To:
		return 1
	}
	return (load - r.From) / (r.To - r.From)
}
