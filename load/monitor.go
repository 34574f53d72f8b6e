package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/wire"
)

// A Monitor polls sources for the load of the system. Make one
// with [New] and have its owner call Run. All methods are safe for concurrent use.
type Monitor struct {
	feeds   []*feed
	running atomic.Bool
	hook    isolate.Hook[Event]
}

// New returns a monitor, or an error that matches [ErrConfig]. It starts nothing.
func New(c Config) (*Monitor, error) {
	feeds, err := c.feeds()
	if err != nil {
		return nil, err
	}
	return &Monitor{feeds: feeds, hook: isolate.Hook[Event]{Name: "load: OnEvent", Call: c.OnEvent}}, nil
}

// farewell is how long Run waits for a poll whose context has ended.
const farewell = time.Second

// Run polls the sources until ctx ends, and then returns nil. If a Poll has not returned a second
// later, Run leaves it behind and names its source in the error. The next Run polls that source
// again once the Poll has returned. If OnEvent panicked or ended its goroutine, the polls go on,
// and the error names OnEvent. While the monitor runs already, Run returns [ErrRunning]. After Run
// has returned, it may be called again. A nil ctx counts as context.Background.
func (m *Monitor) Run(ctx context.Context) error {
	ctx = cmp.Or(ctx, context.Background())
	if !m.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer m.running.Store(false)
	var watchers sync.WaitGroup
	for _, f := range m.feeds {
		watchers.Go(func() { m.watch(ctx, f) })
	}
	watchers.Wait()
	return errors.Join(m.leftBehind(), m.hook.Failure())
}

// watch polls one feed and reports when its state changes, also while a poll hangs.
func (m *Monitor) watch(ctx context.Context, f *feed) {
	began := time.Now()
	ticker := time.NewTicker(f.interval)
	defer ticker.Stop()
	for {
		f.start(ctx)
		m.report(f, began)
		select {
		case <-ctx.Done():
			f.poller.Wait(farewell)
			return
		case <-f.poller.Done():
			m.report(f, began)
			ticker.Reset(f.interval) // from the end of the poll, so that no poll follows a slow one at once
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		case <-ticker.C:
		}
	}
}

// report calls the hook if the state of the feed has changed.
func (m *Monitor) report(f *feed, began time.Time) {
	now := time.Now()
	if kind, err := f.change(began, now); kind != 0 {
		m.hook.Tell(Event{At: now, Source: f.name, Kind: kind, Err: err})
	}
}

func (m *Monitor) leftBehind() error {
	var errs []error
	for _, f := range m.feeds {
		if !f.poller.Wait(0) {
			errs = append(errs, fmt.Errorf("load: source %q does not return from Poll", f.name))
		}
	}
	return errors.Join(errs...)
}

// Running reports whether Run is at work.
func (m *Monitor) Running() bool { return m.running.Load() }

// Level returns how close the system is to its limit for work of one scope, by all feeds.
func (m *Monitor) Level(scope Scope) Level { return m.Snapshot().Level(scope, nil) }

// TellsDrain reports whether one of the feeds has a [Drainer] as its source.
func (m *Monitor) TellsDrain() bool {
	return slices.ContainsFunc(m.feeds, func(f *feed) bool { return tellsDrain(f.source) })
}

func tellsDrain(s Source) bool {
	d, ok := s.(Drainer)
	return ok && d.TellsDrain()
}

// Snapshot returns the state of each feed, in the order of [Config].Sources. Reading changes
// nothing.
func (m *Monitor) Snapshot() Feeds {
	now := time.Now()
	all := make(Feeds, len(m.feeds))
	for i, f := range m.feeds {
		all[i], _ = f.status(now)
	}
	return all
}

// String returns the snapshot as JSON, which makes a Monitor an expvar.Var.
func (m *Monitor) String() string { return wire.String(m.Snapshot()) }

// An Event says that a feed became stale, or that it answers again.
type Event struct {
	At     time.Time // when
	Source string    // Source.Name
	Kind   Kind      // the kind of the event
	Err    error     // why, for WentStale and WentMissing
}

// String describes the event in one line.
func (e Event) String() string { return wire.Line(e.text()) }

func (e Event) text() string {
	switch {
	case e.Err != nil && e.Kind == WentStale:
		return e.Err.Error() // it names the source
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", e.Source, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Source, e.Kind)
}

// A Kind is a kind of [Event].
type Kind uint8

const (
	// WentStale: the source gave no valid reading for a second, or for 10 intervals if that is
	// more.
	WentStale Kind = 1
	// WentMissing: the source says that there is nothing to measure.
	WentMissing Kind = 2
	// CameBack: the source answers again.
	CameBack Kind = 3
)

var kinds = [...]string{WentStale: "stale", WentMissing: "unavailable", CameBack: "answers again"}

// String returns the kind in words.
func (k Kind) String() string { return wire.Word(kinds[:], k, "Kind") }
