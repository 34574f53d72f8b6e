package pool_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

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
