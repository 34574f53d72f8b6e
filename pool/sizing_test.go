package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
)

// TestBadPlans: the plans of a user's scaler are checked.
func TestBadPlans(t *testing.T) {
	for _, plan := range []pool.Plan{
		{Initial: 1, Min: 1, Max: 1},
		{Initial: 1, Min: 1, Max: 1, Period: -1},
		{Initial: 1, Min: 2, Max: 3, Period: 1},
		{Initial: 1, Min: -1, Max: 3, Period: 1},
		{Initial: 4, Min: 1, Max: 4, Period: 1},
	} {
		scaler := hostileScaler{func() pool.Plan { return plan }, func() {}}
		for _, s := range []pool.Scaler{scaler, pool.MinOf{scaler}} {
			if p, err := pool.New(pool.Config{Capacity: slots(3), Source: pool.Slice(nil), Scaler: s}); p != nil ||
				!errors.Is(err, pool.ErrConfig) {
				t.Errorf("%+v: %v, %v", plan, p, err)
			}
		}
	}
	for _, s := range []pool.Scaler{
		noSizer{},
		pool.MinOf{noSizer{}},
		pool.MinOf{nil},
		pool.ByLaw{Law: noController{}},
		pool.ByLaw{Law: hostileLaw(func() { panic("new") })},
	} {
		if p, err := pool.New(pool.Config{Capacity: slots(3), Source: pool.Slice(nil), Scaler: s}); p != nil ||
			!errors.Is(err, pool.ErrConfig) {
			t.Errorf("%T: %v, %v", s, p, err)
		}
	}
}

type noSizer struct{}

func (noSizer) Sizer(int64) (pool.Sizer, error) { return nil, nil }

type noController struct{}

func (noController) Controller(law.Bounds) (law.Controller, error) { return nil, nil }

// TestQuickScaler: however often a scaler wants to be asked, tasks run.
func TestQuickScaler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := hostileScaler{
			func() pool.Plan { return pool.Plan{Initial: 2, Min: 1, Max: 3, Period: 1} },
			func() { asked++ },
		}
		r := run(t, pool.Config{Capacity: slots(3), Source: pool.Slice(three()), Scaler: s})
		slices.Sort(r.events)
		r.expect(t, "1 done, 2 done, 3 done", nil)
		if asked > 10_000 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// TestBacklogRunRisesAndFallsOneStepATick: 24 jobs of 80 to 300 ms over 6 slots, 3 at first.
func TestBacklogRunRisesAndFallsOneStepATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must.Have(capacity.New(capacity.Vector{"slots": 6}))(t)
		random := rand.New(rand.NewPCG(20, 20))
		var tasks []pool.Task
		for range 24 {
			takes := 80*time.Millisecond + time.Duration(random.Int64N(int64(220*time.Millisecond)))
			tasks = append(tasks, pool.Task{Run: func(context.Context) (any, error) { time.Sleep(takes); return nil, nil }})
		}
		scaler := pool.ByBacklog{High: 10, Low: 4, Min: 2, Initial: 3, Period: 200 * time.Millisecond}
		p := must.Have(pool.New(pool.Config{Capacity: c, Source: pool.Slice(tasks), Scaler: scaler}))(t)
		var decisions []string
		began, done := time.Now(), 0
		for ev, err := range p.Run(t.Context()) {
			switch {
			case err != nil:
				t.Fatal(err)
			case ev.Kind == pool.Done:
				done++
			case ev.Kind == pool.Decided && ev.Decision.From != ev.Decision.To:
				decisions = append(decisions, ev.Decision.String())
			}
		}
		t.Logf("%d jobs took %v:\n%s", done, time.Since(began), strings.Join(decisions, "\n"))
		want := []string{
			"slots: backlog 24 above 10: raised 3 to 4", "slots: backlog 17 above 10: raised 4 to 5", "slots: backlog 11 above 10: raised 5 to 6",
			"slots: backlog 0 below 4: cut 6 to 5", "slots: backlog 0 below 4: cut 5 to 4",
		}
		if free := c.Resource("slots").Available; !slices.Equal(decisions, want) || done != 24 || free != 6 {
			t.Errorf("%d jobs done, %d slots free at the end, decisions\n%q, want 24, 6 and\n%q", done, free, decisions, want)
		}
	})
}
