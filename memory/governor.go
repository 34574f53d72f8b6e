package memory

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/clock"
	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/pages"
	"github.com/weir-go/weir/internal/wire"
)

var (
	// ErrTaken is the error of New while the process has a governor that is not closed.
	ErrTaken = errors.New("memory: the process has a governor already: close it first, or share it")
	// ErrRunning is the error of Run if the governor runs already.
	ErrRunning = errors.New("memory: already running")
	// ErrFull is the error of TryAcquireKept if no more may be kept.
	ErrFull = errors.New("memory: no more may be kept: release what is, or set a larger Config.Target")
	// ErrClosed is the error of Run, Acquire and TryAcquireKept once the governor is closed.
	ErrClosed = errors.New("memory: the governor is closed")
)

// A Governor keeps the process inside its target. A process has one at most, for the runtime has
// one memory limit. Make one with [New]; the zero Governor is not usable. All methods are safe for
// concurrent use.
type Governor struct {
	conf    Config
	control control
	budget  budget // for the bytes in flight
	kept    budget
	process process
	running atomic.Bool
	busy    atomic.Bool // garbage is being collected
	waited  clock.Stopwatch
	closed  chan struct{}
	hook    isolate.Hook[Event]

	deciding sync.Mutex // held during a step of Run, so that no step follows Close
	limits   limits

	mu   sync.Mutex
	last decision // last, read and took are for the Snapshot
	read reading
	took uint64 // pages that Linux was asked to take back, in bytes
}

// process is the process that a governor reads and acts on. Tests have their own.
type process struct {
	read     func() reading
	resident func() residence
	setLimit func(int64) int64
	collect  func()
	pageOut  func(patterns []string) uint64
}

var taken atomic.Bool

// New returns a governor that admits up to 1/64 of the target, and changes nothing before Run. The
// error matches [ErrConfig], or is [ErrTaken].
func New(c Config) (*Governor, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	if !taken.CompareAndSwap(false, true) {
		return nil, ErrTaken
	}
	m := newMeter()
	return newGovernor(c, process{m.read, m.resident, debug.SetMemoryLimit, runtime.GC, pages.Out}), nil
}

func newGovernor(c Config, p process) *Governor {
	g := &Governor{
		conf: c, process: p, control: control{target: c.Target, files: len(c.Mapped) > 0}, closed: make(chan struct{}),
		hook: isolate.Hook[Event]{Name: "memory: OnEvent", Call: c.OnEvent},
	}
	g.budget.size = max(int64(c.Target/budgetShare), leastBudget)
	g.kept.size = int64(c.Target / keptShare)
	return g
}

// Close ends Run, gives the runtime its memory limit back, and refuses the waiters of Acquire.
// After it has returned, the process may have another governor. OnEvent may call it. A second call
// does nothing.
func (g *Governor) Close() {
	g.deciding.Lock()
	defer g.deciding.Unlock()
	if g.isClosed() {
		return
	}
	close(g.closed)
	g.limits.end()
	taken.Store(false)
}

// begin takes over the memory limit of the runtime. It fails if the governor is closed.
func (g *Governor) begin() error {
	g.deciding.Lock()
	defer g.deciding.Unlock()
	if g.isClosed() {
		return ErrClosed
	}
	g.limits.begin(g.process.setLimit)
	return nil
}

// end gives the memory limit back to the program, after the current step.
func (g *Governor) end() {
	g.deciding.Lock()
	defer g.deciding.Unlock()
	g.limits.end()
}

func (g *Governor) isClosed() bool {
	select {
	case <-g.closed:
		return true
	default:
		return false
	}
}

// Run decides every 50 ms until ctx ends or the governor is closed, and returns nil. Meanwhile it
// sets the memory limit of the runtime, but never above the limit that GOMEMLIMIT or the program
// set, even if the program sets it while Run runs. At the end Run restores that limit. A second Run
// at the same time returns [ErrRunning]. A nil ctx counts as context.Background.
func (g *Governor) Run(ctx context.Context) error {
	ctx = cmp.Or(ctx, context.Background())
	if g.isClosed() {
		return ErrClosed
	}
	if !g.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer g.running.Store(false)
	if err := g.begin(); err != nil {
		return err
	}
	defer g.end()
	if len(g.conf.Mapped) > 0 {
		looking, stop := context.WithCancel(ctx)
		var pager sync.WaitGroup
		pager.Go(func() { g.takeBack(looking) })
		defer pager.Wait()
		defer stop()
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		g.step()
		select {
		case <-ctx.Done():
			return g.hook.Failure()
		case <-g.closed:
			return g.hook.Failure()
		case <-ticker.C:
		}
	}
}

// step decides once, and reports an event if the target turned out to be too small or to suffice.
func (g *Governor) step() {
	was, d := g.decide()
	if was.short == d.short {
		return
	}
	e := Event{At: time.Now(), Kind: TargetSuffices, Target: g.conf.Target, Least: d.least}
	if d.short {
		e.Kind = TargetTooSmall
	}
	g.hook.Tell(e)
}

// decide returns the last decision and the next, which it puts into effect unless the governor is
// closed.
func (g *Governor) decide() (was, d decision) {
	g.deciding.Lock()
	defer g.deciding.Unlock()
	if g.isClosed() {
		return was, d
	}
	r := g.process.read()
	_, r.inFlight, _ = g.budget.snapshot()
	d = g.control.step(r)
	g.limits.move(d.limit)
	g.budget.resize(d.budget)
	g.kept.resize(d.keep)
	if d.collect {
		g.collect()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	was, g.last, g.read = g.last, d, r
	return was, d
}

// collect collects garbage on another goroutine, because a collection takes longer than a step. It
// does nothing while a collection runs.
func (g *Governor) collect() {
	if g.busy.CompareAndSwap(false, true) {
		go func() {
			defer g.busy.Store(false)
			g.process.collect()
		}()
	}
}

// limits moves the memory limit of the runtime below the limit of the program, from begin to end.
type limits struct {
	set  func(int64) int64
	user int64 // the limit of the program
	own  int64 // the limit that the governor set last
}

func (l *limits) begin(set func(int64) int64) {
	l.set = set
	l.user = set(-1)
	l.own = l.user
}

// noticed takes note of a limit that the program set meanwhile.
func (l *limits) noticed() {
	if now := l.set(-1); now != l.own {
		l.user = now
	}
}

func (l *limits) move(limit int64) {
	l.noticed()
	l.own = min(limit, l.user)
	l.set(l.own)
}

// end does nothing if it was called since begin.
func (l *limits) end() {
	if l.set == nil {
		return
	}
	l.noticed()
	l.set(l.user)
	l.set = nil
}

// A Snapshot is the state of a governor at one moment. Sizes are in bytes. Measurements are 0
// before the first step of Run.
type Snapshot struct {
	Target    uint64        // Config.Target, or its default
	Anonymous uint64        // resident memory that is of no file
	Resident  uint64        // resident memory, mapped files included
	Need      uint64        // memory that a garbage collection would leave
	Limit     uint64        // the memory limit for the runtime
	Budget    uint64        // the bytes that may be in flight
	InFlight  uint64        // the bytes in flight
	Kept      uint64        // the bytes that are kept
	Waiting   int           // the number of calls of Acquire that wait
	Waited    time.Duration // the sum of all waits of Acquire, with the waits that still last
	PagedOut  uint64        // pages of mapped files that Linux was asked to take back, together
	TooSmall  bool          // the target is below the needs of the store
	Least     uint64        // the least target that leaves room for work

	load float64
}

// Load is Need as a share of the need that leaves no room for work: at 1 and above the budget is
// at its least.
func (s Snapshot) Load() float64 { return s.load }

// Snapshot returns the state now. Reading changes nothing.
func (g *Governor) Snapshot() Snapshot {
	size, inFlight, waiting := g.budget.snapshot()
	_, kept, _ := g.kept.snapshot()
	g.mu.Lock()
	defer g.mu.Unlock()
	return Snapshot{
		Target: g.conf.Target, Anonymous: g.read.anonymous, Resident: g.read.resident,
		Need: g.last.need, Limit: uint64(g.last.limit), Budget: uint64(size), InFlight: uint64(inFlight), Kept: uint64(kept),
		Waiting: waiting, Waited: g.waited.Total(), PagedOut: g.took,
		TooSmall: g.last.short, Least: g.last.least, load: g.last.load,
	}
}

// String returns the snapshot as JSON, which makes a Governor an expvar.Var.
func (g *Governor) String() string { return wire.String(g.Snapshot()) }
