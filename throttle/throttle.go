package throttle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/pid"
)

// An Op says whether an operation reads or writes.
type Op uint8

// The operations.
const (
	Read  Op = 0
	Write Op = 1
)

const ops = int(Write) + 1

var opNames = [...]string{Read: "read", Write: "write"}

// String returns "read" or "write".
func (o Op) String() string { return wire.Word(opNames[:], o, "Op") }

// A Throttle paces operations on a database. Make one with [New] and have its owner call Run; the
// zero Throttle is not usable. All methods are safe for concurrent use.
type Throttle struct {
	conf    Config
	sides   [ops]side
	running atomic.Bool
	made    time.Time
	checked atomic.Bool // checkRuns has found Run and the monitor at work, or has reported that they are not
	hook    isolate.Hook[Event]

	mu sync.Mutex // guards the pacers; never held while a hook runs
}

// New returns a throttle, or an error that matches [ErrConfig]. It starts nothing,
// and paces nothing before Run.
func New(c Config) (*Throttle, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	t := &Throttle{conf: c, made: time.Now(), hook: isolate.Hook[Event]{Name: "throttle: OnEvent", Call: c.OnEvent}}
	for op, s := range [ops]Side{Read: c.Reads, Write: c.Writes} {
		if err := t.sides[op].init(Op(op), s, c); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Acquire waits for the turn of an operation of the given cost, 1 to 1,000,000,000 in a unit of
// the caller's choice. Call it before the work, and give the permit back with Done, DoneWith
// or Release. Before that, SetWeight may set the real cost, and corrects the tokens that the
// pace has charged.
//
// An operation that could start only after the deadline of ctx, or after it has waited for as long
// as the queue allows, is refused at once, with an error that matches [weir.ErrRefused] and
// [weir.RefusedError], whose RetryAfter is at most 10 s. If ctx ends first the error
// matches context.Cause(ctx). Acquire does not allocate unless it has to wait or refuse.
func (t *Throttle) Acquire(ctx context.Context, op Op, cost int) (permit weir.Permit, err error) {
	if op > Write || cost < 1 || cost > settings.MaxSlots {
		return weir.Permit{}, misuse(op, cost)
	}
	if t.conf.Off {
		return weir.Permit{}, nil
	}
	if !t.checked.Load() {
		t.checkRuns(op)
	}
	return t.sides[op].acquire(ctx, cost)
}

// beforeRun is the time after New in which operations may start without a report that Run is not at
// work: the goroutine of a "go th.Run(ctx)" may be scheduled late.
const beforeRun = time.Second

// checkRuns reports an operation that starts while Run, or the Run of the monitor, is not at work.
// Acquire calls it no more after that report, or after a check that found both at work.
func (t *Throttle) checkRuns(op Op) {
	kind := NotRunning
	if t.running.Load() {
		kind = MonitorNotRunning
	}
	runs := kind == MonitorNotRunning && (t.conf.Monitor == nil || t.conf.Monitor.Running())
	if !runs && time.Since(t.made) < beforeRun {
		return
	}
	if t.checked.CompareAndSwap(false, true) && !runs {
		t.hook.Tell(Event{At: time.Now(), Throttle: t.conf.Name, Op: op, Kind: kind})
	}
}

func misuse(op Op, cost int) error {
	if op > Write {
		return invalid("operation", op, "Read or Write")
	}
	return invalid("cost", cost, fmt.Sprintf("1 to %d", settings.MaxSlots))
}

// Do runs fn when its turn has come, on the caller's goroutine, and returns its
// error. An error after the end of ctx counts as the reason for that end, as in [weir.Do]. If fn
// panics, a failure is counted and the panic continues; if it ends its goroutine, a failure is
// counted too.
func (t *Throttle) Do(ctx context.Context, op Op, cost int, fn func(context.Context) error) error {
	ctx = cmp.Or(ctx, context.Background())
	permit, err := t.Acquire(ctx, op, cost)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned { // fn panicked or ended its goroutine, or a method of its error did
			permit.Finish(weir.Failure)
		}
	}()
	err = fn(ctx)
	if t.conf.Classify == nil && err != nil && ctx.Err() != nil && !errors.Is(err, weir.ErrRefused) {
		permit.Done(ctx.Err()) // the end of ctx is the reason, whatever the error of a driver says
	}
	permit.Done(err)
	returned = true
	return err
}

// Close refuses waiting and future operations. Running operations are left alone.
// Close may be called more than once, and without Run.
func (t *Throttle) Close() {
	for i := range t.sides {
		t.sides[i].limiter.Close()
	}
}

// Run decides on the pace once each Tick until ctx ends. Then it lifts the pace, so that waiting
// operations start unless the throttle is closed, and returns nil. If OnEvent panicked or ended its
// goroutine, the decisions go on, and the error names OnEvent. While the throttle runs already, Run
// returns [ErrRunning]. After Run has returned, it may be called again. A nil ctx counts as
// context.Background.
func (t *Throttle) Run(ctx context.Context) error {
	ctx = cmp.Or(ctx, context.Background())
	if !t.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer t.running.Store(false)
	if t.conf.Off {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(t.conf.Tick)
	defer ticker.Stop()
	last := time.Now()
	t.each((*side).begin)
	for {
		select {
		case <-ctx.Done():
			t.each(func(s *side) { s.lift(time.Now()) })
			return t.hook.Failure()
		case <-ticker.C:
			now := time.Now()
			if dt := now.Sub(last); dt > 0 {
				t.each(func(s *side) { s.step(now, dt) })
			}
			last = now
		}
	}
}

// each calls a function with each side, and then OnEvent with the events that these calls left.
func (t *Throttle) each(do func(*side)) {
	var events []Event
	t.mu.Lock()
	for i := range t.sides {
		s := &t.sides[i]
		do(s)
		events = append(events, s.pacer.events...)
		s.pacer.events = nil
	}
	t.mu.Unlock()
	for _, e := range events {
		e.Throttle = t.conf.Name
		t.hook.Tell(e)
	}
}

// A Snapshot is the state of a throttle and its reasons, at one moment.
type Snapshot struct {
	Name          string       // Config.Name
	Off           bool         // Config.Off
	Running       bool         // whether Run is at work
	Reads, Writes SideSnapshot // the two sides
	Feeds         load.Feeds   // the last answers of the monitor's feeds
}

// A SideSnapshot is one side of a [Snapshot]. Totals count since the throttle was made.
type SideSnapshot struct {
	Pace        Pace         // in force now; the zero Pace is no bound
	MaxInFlight int          // the bound that a [Concurrency] found for the cost that runs at once; 0 without one
	Load        float64      // the input of the laws
	Level       load.Level   // the monitor's part of Load
	Latency     load.Reading // the p95 against its target, a part of Load too; not valid without a target
	Symptom     load.Reading // the worst symptom of the side's own operations
	Degraded    bool         // signals are missing: the symptoms count
	Emergency   bool         // see [Config].Emergency
	Emergencies uint64       // the number of emergencies so far

	// PID has the terms of the PID law, or of the controller that replaces all
	// laws while the side is degraded. It is zero without such a law or controller.
	PID pid.Snapshot

	Rate         float64       // cost admitted per second, over about a second
	Cost         uint64        // cost admitted, as corrected; between snapshots it does not fall, but stays until later cost makes up for a correction
	Throttled    uint64        // operations that waited and then started; Limiter counts the operations that left or were refused
	ThrottleTime time.Duration // the sum of the waits of these operations
	Limiter      weir.Snapshot // latencies, work in flight, the queue, waiters that left, refusals by reason
}

// Snapshot returns the present state. Reading changes nothing, except that the Cost of a later
// snapshot is not lower.
func (t *Throttle) Snapshot() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	snap := Snapshot{
		Name: t.conf.Name, Off: t.conf.Off, Running: t.running.Load(),
		Reads: t.sides[Read].snapshot(), Writes: t.sides[Write].snapshot(),
	}
	if t.conf.Monitor != nil {
		snap.Feeds = t.conf.Monitor.Snapshot()
	}
	return snap
}

// String returns the snapshot as JSON, which makes a Throttle an expvar.Var.
func (t *Throttle) String() string { return wire.String(t.Snapshot()) }

// An Event is an act of a throttle besides pacing.
type Event struct {
	At       time.Time  // when
	Throttle string     // Config.Name
	Kind     Kind       // the kind of the act
	Op       Op         // the operations concerned
	Level    load.Level // the load at that moment
	Err      error      // of the signal that is lost
}

// A Kind is a kind of [Event].
type Kind uint8

const (
	// Degraded: a signal is stale or invalid, and the side uses its symptoms.
	Degraded Kind = 1
	// Restored: all signals are back.
	Restored Kind = 2
	// EmergencyBegan and EmergencyEnded: see [Config].Emergency.
	EmergencyBegan Kind = 3
	EmergencyEnded Kind = 4 // see EmergencyBegan
	// NotRunning: an operation started a second after New or later, and Run was not at work yet,
	// so that it was not paced. Acquire reports it once, on the operation's goroutine.
	NotRunning Kind = 5
	// MonitorNotRunning: an operation started a second after New or later. Run was at work, but the
	// Run of [Config].Monitor was not, so the sides use their symptoms. Acquire reports it once
	// too.
	MonitorNotRunning Kind = 6
)

var kinds = [...]string{
	Degraded:          "degraded",
	Restored:          "restored",
	EmergencyBegan:    "emergency began",
	EmergencyEnded:    "emergency ended",
	NotRunning:        "not running",
	MonitorNotRunning: "monitor not running",
}

// String returns the kind in words.
func (k Kind) String() string { return wire.Word(kinds[:], k, "Kind") }

// String describes the event in one line.
func (e Event) String() string { return wire.Line(e.text()) }

func (e Event) text() string {
	switch {
	case e.Kind == NotRunning:
		return fmt.Sprintf("%s: %vs: %v: call Run", e.Throttle, e.Op, e.Kind)
	case e.Kind == MonitorNotRunning:
		return fmt.Sprintf("%s: %vs: %v: call Monitor.Run", e.Throttle, e.Op, e.Kind)
	case e.Kind == Degraded && e.Err != nil:
		return fmt.Sprintf("%s: %vs: %v, by symptoms: %v", e.Throttle, e.Op, e.Kind, e.Err)
	}
	return fmt.Sprintf("%s: %vs: %v at a load of %.2f", e.Throttle, e.Op, e.Kind, e.Level.Load)
}
