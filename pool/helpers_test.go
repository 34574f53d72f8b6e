package pool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

var errTask = errors.New("no luck")

// task sleeps and then returns err.
func task(key string, takes time.Duration, err error) pool.Task {
	return pool.Task{Key: key, Run: func(ctx context.Context) (any, error) {
		select {
		case <-time.After(takes):
			return key + ":ok", err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

// tasks returns n tasks that succeed, by their keys "0", "1" and so on.
func tasks(n int, takes time.Duration) (all []pool.Task) {
	for i := range n {
		all = append(all, task(fmt.Sprint(i), takes, nil))
	}
	return all
}

// after returns the task as one that waits for others.
func after(t pool.Task, keys ...string) pool.Task {
	t.After = keys
	return t
}

func slots(n int64) *capacity.Capacity {
	c, err := capacity.New(capacity.Vector{"slots": n})
	if err != nil {
		panic(err)
	}
	return c
}

// record is the output of a run: events as "key kind", then the error.
type record struct {
	events []string
	all    []pool.Event
	err    error
}

// run runs a pool for up to two hours of faked time: a run that does not end by itself fails.
func run(t *testing.T, c pool.Config, each ...func(*pool.Pool, pool.Event)) record {
	t.Helper()
	return runFor(t, 2*time.Hour, c, each...)
}

func runFor(t *testing.T, most time.Duration, c pool.Config, each ...func(*pool.Pool, pool.Event)) (r record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	p := must.Have(pool.New(c))(t)
	for ev, err := range p.Run(ctx) {
		if err != nil {
			r.err = err
			continue
		}
		if r.err != nil {
			t.Errorf("%v after the error", ev)
		}
		r.all = append(r.all, ev)
		if ev.Kind != pool.Decided {
			r.events = append(r.events, ev.Key+" "+ev.Kind.String())
		}
		for _, f := range each {
			f(p, ev)
		}
	}
	s := p.Snapshot()
	if s.Running+s.Ready+s.Blocked > 0 && len(s.Abandoned) == 0 {
		t.Errorf("left behind: %+v", s)
	}
	if g := c.Capacity.Snapshot(); len(s.Abandoned) == 0 && (g.Grants > 0 || g.Waiting > 0) {
		t.Errorf("left behind: %+v", g)
	}
	return r
}

// count is how many events there were of a kind.
func (r record) count(kind pool.Kind) (n int) {
	for _, ev := range r.all {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// changes returns the decisions that changed a size.
func (r record) changes() (text []string) {
	for _, d := range r.decided() {
		if d.To != d.From {
			text = append(text, d.String())
		}
	}
	return text
}

// largest returns the largest size.
func (r record) largest() (most int64) {
	for _, d := range r.decided() {
		most = max(most, d.To)
	}
	return most
}

// decided returns the decisions.
func (r record) decided() (all []pool.Decision) {
	for _, ev := range r.all {
		if ev.Kind == pool.Decided {
			all = append(all, *ev.Decision)
		}
	}
	return all
}

func (r record) expect(t *testing.T, events string, is error) {
	t.Helper()
	if got := strings.Join(r.events, ", "); got != events {
		t.Errorf("\n got %s\nwant %s", got, events)
	}
	if !errors.Is(r.err, is) {
		t.Errorf("error %v, want %v", r.err, is)
	}
}
