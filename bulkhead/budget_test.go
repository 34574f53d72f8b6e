package bulkhead_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// drive runs callers of a key until the time is over. latency is the time of each piece of work.
func drive(t *testing.T, s *bulkhead.Set, key string, callers int, lasting time.Duration, latency *atomic.Int64) {
	t.Helper()
	until := time.Now().Add(lasting)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for time.Now().Before(until) {
				if s.Do(t.Context(), key, work(time.Duration(latency.Load()))) != nil {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
}

func TestKeyOverBudgetLosesSlotsAndGetsThemBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		search := fixed(20, 0, 0)
		search.Config.OnEvent = j.Note
		search.Budget, search.Reserved = 100*time.Millisecond, 3
		s := newSet(t, bulkhead.Config{Max: 40, Default: fixed(20, 0, 0), ByKey: byKey{"search": search}})
		var slow, fast atomic.Int64
		slow.Store(int64(50 * time.Millisecond))
		fast.Store(int64(50 * time.Millisecond))
		limit := func() int { return s.Snapshot().ByKey["search"].Limit }

		drive(t, s, "search", 20, 5*time.Second, &slow)
		if n := limit(); n != 20 {
			t.Errorf("within its budget it has %d slots, want 20", n)
		}
		slow.Store(int64(150 * time.Millisecond))
		var all sync.WaitGroup
		all.Go(func() { drive(t, s, "search", 20, 15*time.Second, &slow) })
		all.Go(func() { drive(t, s, "other", 20, 15*time.Second, &fast) })
		all.Wait()
		if n := limit(); n != 3 {
			t.Errorf("over its budget it has %d slots, want its reserve, 3", n)
		}
		if n := s.Snapshot().ByKey["other"].Limit; n != 20 {
			t.Errorf("the other key has %d slots, want 20", n)
		}
		slow.Store(int64(50 * time.Millisecond))
		drive(t, s, "search", 20, 30*time.Second, &slow)
		if n := limit(); n != 20 {
			t.Errorf("back within its budget it has %d slots, want 20", n)
		}

		changes := j.Of(weir.LimitChanged)
		var cut, raised []string
		for _, e := range changes {
			if e.Change.To < e.Change.From {
				cut = append(cut, e.String())
			} else {
				raised = append(raised, e.String())
			}
		}
		// 20 14 9 6 4 3, and 2 a window back
		if len(cut) != 5 || !strings.HasPrefix(cut[0], "search: limit changed: p95 15") ||
			!strings.HasSuffix(cut[0], "ms above 100ms: cut 20 to 14") {
			t.Errorf("%q", cut)
		}
		if len(raised) != 9 || !strings.HasSuffix(raised[8], "below 100ms: raised 19 to 20") {
			t.Errorf("%q", raised)
		}
	})
}

// TestTimeoutsCountAgainstABudget, although their latency is not measured.
func TestTimeoutsCountAgainstABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := fixed(10, 0, 0)
		k.Budget, k.Config.Timeout = time.Second, 20*time.Millisecond
		s := newSet(t, bulkhead.Config{Default: k})
		var latency atomic.Int64
		latency.Store(int64(time.Minute))
		drive(t, s, "a", 10, 10*time.Second, &latency)
		if a := s.Snapshot().ByKey["a"]; a.Limit != 1 || a.Decision.String() != "timeout rate 100% above 5%" {
			t.Errorf("limit %d: %v", a.Limit, a.Decision)
		}
	})
}

func TestIdleKeyGetsItsSlotsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := fixed(10, 0, 0)
		k.Budget = 10 * time.Millisecond
		s := newSet(t, bulkhead.Config{Default: k})
		var latency atomic.Int64
		latency.Store(int64(50 * time.Millisecond))
		drive(t, s, "a", 10, 10*time.Second, &latency)
		if n := s.Snapshot().ByKey["a"].Limit; n != 1 {
			t.Fatalf("limit %d", n)
		}
		for range 20 {
			time.Sleep(time.Minute)
			_ = s.Do(t.Context(), "a", func(context.Context) error { return nil })
		}
		if n := s.Snapshot().ByKey["a"].Limit; n != 10 {
			t.Errorf("limit %d, want 10", n)
		}
	})
}

// TestUpdateOfACutKey neither forgets the cut nor takes it for the key's due.
func TestUpdateOfACutKey(t *testing.T) {
	for name, own := range map[string]law.Law{"fixed": law.Fixed{}, "adaptive": law.Band{Target: time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := bulkhead.Compartment{
					Budget: 100 * time.Millisecond,
					Config: weir.Config{Initial: 10, Max: 10, Law: own},
				}
				s := newSet(t, bulkhead.Config{Default: k})
				var latency atomic.Int64
				latency.Store(int64(150 * time.Millisecond))
				drive(t, s, "a", 10, 2500*time.Millisecond, &latency)
				if n := s.Snapshot().ByKey["a"].Limit; n != 4 {
					t.Fatalf("limit %d", n)
				}
				update(t, s, bulkhead.Config{Default: k})
				if n := s.Snapshot().ByKey["a"].Limit; n != 4 {
					t.Errorf("limit %d after the update, want 4", n)
				}
				latency.Store(int64(50 * time.Millisecond))
				drive(t, s, "a", 10, 20*time.Second, &latency)
				if n := s.Snapshot().ByKey["a"].Limit; n != 10 {
					t.Errorf("limit %d, want 10", n)
				}
				k.Budget = 0
				update(t, s, bulkhead.Config{Default: k})
			})
		})
	}
}
