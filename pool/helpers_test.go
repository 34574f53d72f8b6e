package pool_test

import (
	"context"
	"errors"
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

func run(t *testing.T, c pool.Config, each ...func(*pool.Pool, pool.Event)) (r record) {
	t.Helper()
	// Two hours of faked time: a run that does not end by itself fails.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
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
	if s.Running+s.Ready+s.Blocked+s.Resting > 0 && len(s.Abandoned) == 0 {
		t.Errorf("left behind: %+v", s)
	}
	if g := c.Capacity.Snapshot(); len(s.Abandoned) == 0 && (g.Grants > 0 || g.Waiting > 0) {
		t.Errorf("left behind: %+v", g)
	}
	return r
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
