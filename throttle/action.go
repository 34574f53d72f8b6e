package throttle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/load"
)

// An Action is a remedy for a high load besides pacing, such as having
// the store flush its tables. Run calls it in a goroutine of its own, one call at
// a time, so that no operation ever waits for it.
type Action struct {
	// Name identifies the action in events. Required.
	Name string
	// Do acts. It returns soon after ctx ends. A panic counts as an error, and so
	// does the end of the goroutine.
	Do func(ctx context.Context) error
	// Source is the name of the feed of the monitor whose load decides. Defaults to
	// the load of all of them.
	Source string
	// Above is the load from which to act. Defaults to 0.9.
	Above float64
	// Every is how much time there is at least from the end of one call to the
	// next. Defaults to 10 s.
	Every time.Duration
}

// FreeMemory is an action that returns memory to the operating system while the
// load of the named feed is above 0.9, once a minute at most. It collects garbage, which
// takes processor time in proportion to the heap. A memory limit for the
// runtime (GOMEMLIMIT) makes it unnecessary in most programs.
func FreeMemory(source string) Action {
	return Action{Name: "free memory", Source: source, Every: time.Minute, Do: func(context.Context) error {
		debug.FreeOSMemory()
		return nil
	}}
}

func completeActions(actions []Action, m *load.Monitor) ([]Action, error) {
	actions = slices.Clone(actions)
	for i := range actions {
		a := &actions[i]
		if err := settings.First(
			notNegative(fmt.Sprintf("Actions[%d].Above", i), a.Above),
			notNegative(fmt.Sprintf("Actions[%d].Every", i), a.Every),
		); err != nil {
			return nil, err
		}
		switch {
		case a.Name == "" || a.Do == nil:
			return nil, invalid(fmt.Sprintf("Actions[%d]", i), a.Name, "a Name and a function to Do")
		case m == nil:
			return nil, invalid(fmt.Sprintf("Actions[%d]", i), strconv.Quote(a.Name), "a Monitor, whose load decides")
		case a.Source != "" && !slices.ContainsFunc(m.Snapshot(), func(s load.FeedSnapshot) bool { return s.Source == a.Source }):
			return nil, invalid(fmt.Sprintf("Actions[%d].Source", i), strconv.Quote(a.Source), "the name of a feed of the Monitor")
		}
		a.Above = cmp.Or(a.Above, defaultAbove)
		a.Every = cmp.Or(a.Every, defaultActionEvery)
	}
	return actions, nil
}

// action is an Action at work.
type action struct {
	Action
	solo isolate.Solo

	ended time.Time // when a call returned last; guarded by Throttle.mu, as is
	runs  uint64    // how many did
}

// act starts the actions that are due.
func (t *Throttle) act(ctx context.Context, now time.Time) {
	for _, a := range t.actions {
		level := t.conf.Monitor.LevelOf(load.All, func(f load.FeedSnapshot) bool { return a.Source == "" || a.Source == f.Source })
		if level.Valid && level.Load >= a.Above {
			a.start(ctx, t, level, now)
		}
	}
}

// start calls the action, unless it is running or its last call is too recent.
func (a *action) start(ctx context.Context, t *Throttle, l load.Level, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock() // so that no call returns after the look at ended
	if now.Sub(a.ended) < a.Every {
		return
	}
	a.solo.Start(func() {
		var err error
		if end := isolate.Call(func() { err = a.Do(ctx) }); end != nil {
			err = fmt.Errorf("throttle: action %q %w", a.Name, end)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		a.ended = time.Now()
		a.runs++
		t.events = append(t.events, Event{At: a.ended, Kind: ActionRan, Action: a.Name, Level: l, Err: err})
	})
}

// leftBehind waits for the actions and says which did not return.
func (t *Throttle) leftBehind() error {
	until := time.Now().Add(farewell)
	var errs []error
	for _, a := range t.actions {
		if !a.solo.Wait(time.Until(until)) {
			errs = append(errs, fmt.Errorf("throttle: action %q does not return", a.Name))
		}
	}
	return errors.Join(errs...)
}
