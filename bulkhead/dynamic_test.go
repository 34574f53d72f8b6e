package bulkhead_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-go/weir/bulkhead"
)

func TestIdleKeysGiveWay(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 3, Max: 100, Default: fixed(2, 0, 0)})
	busy := hold(t, s, "busy", 1)
	for i := range 50 {
		hold(t, s, fmt.Sprint(i), 1)[0].Done(nil)
	}
	snap := s.Snapshot()
	if _, ok := snap.ByKey["busy"]; !ok || snap.Unknown != 3 || snap.Evicted != 48 || len(snap.ByKey) != 3 {
		t.Errorf("unknown %d, evicted %d, %v", snap.Unknown, snap.Evicted, snap.ByKey)
	}
	if snap.Total.Admitted != 51 || snap.Total.Completed != 50 || snap.ByKey[bulkhead.Overflow].Admitted != 0 {
		t.Errorf("totals were lost with the keys: %+v", snap.Total)
	}
	busy[0].Done(nil)
	balanced(t, s)
}

// TestKeysInUseAreNotEvicted: new keys of one use each do not drive out keys that are
// used again and again, even if they are idle in between.
func TestKeysInUseAreNotEvicted(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 20, Default: fixed(2, 0, 0)})
	for i := range 2000 {
		hold(t, s, fmt.Sprint("regular", i%10), 1)[0].Done(nil)
		hold(t, s, fmt.Sprint("newcomer", i), 1)[0].Done(nil)
	}
	snap := s.Snapshot()
	for i := range 10 {
		if n := snap.ByKey[fmt.Sprint("regular", i)].Admitted; n != 200 {
			t.Errorf("regular %d remembers %d of 200", i, n)
		}
	}
	if n := snap.ByKey[bulkhead.Overflow].Admitted; n > 0 {
		t.Errorf("%d new keys overflowed", n)
	}
}

func TestOverflowTakesWhatFindsNoRoom(t *testing.T) {
	s := newSet(t, bulkhead.Config{
		MaxKeys: 2, Default: fixed(1, 0, 0),
		ByKey: byKey{"checkout": fixed(1, 0, 0), bulkhead.Overflow: fixed(3, 0, 0)},
	})
	first := hold(t, s, "a", 1)
	hold(t, s, "b", 1)
	for i := range 3 {
		hold(t, s, fmt.Sprint("more", i), 1)
	}
	if _, err := s.Acquire(t.Context(), "fourth"); err == nil ||
		!strings.Contains(err.Error(), `"(overflow)" refused`) {
		t.Errorf("got %v", err)
	}
	if n := s.Snapshot().ByKey[bulkhead.Overflow].Admitted; n != 3 {
		t.Errorf("%d are in the overflow, want 3", n)
	}
	hold(t, s, "checkout", 1) // is out of their reach
	h, _ := s.Handle("more0")
	if _, err := h.TryAcquire(t.Context()); err == nil {
		t.Error("the overflow has more than its slots")
	}
	first[0].Done(nil)
	if _, err := h.TryAcquire(t.Context()); err != nil { // and no longer in the overflow
		t.Error("a handle stays in the overflow")
	}
	if k, ok := s.Snapshot().ByKey["more0"]; !ok || k.InFlight != 1 {
		t.Errorf("%+v", k)
	}
}
