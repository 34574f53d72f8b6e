package bulkhead_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

func TestUpdateResizesKeys(t *testing.T) {
	s := newSet(t, bulkhead.Config{Default: fixed(1, 0, 0), ByKey: byKey{"named": fixed(1, 0, 0)}})
	hold(t, s, "named", 1)
	hold(t, s, "other", 1)
	if err := s.Update(bulkhead.Config{Default: fixed(2, 0, 0), ByKey: byKey{"named": fixed(3, 0, 0)}}); err != nil {
		t.Fatal(err)
	}
	hold(t, s, "named", 2)
	hold(t, s, "other", 1)
	for _, key := range []string{"named", "other"} {
		if _, ok := s.TryAcquire(t.Context(), key); ok {
			t.Errorf("%s has more than its slots", key)
		}
	}
	hold(t, s, bulkhead.Overflow, 2)
}

// TestUpdateKeepsWhatWasLearned, also of a key that was unknown so far.
func TestUpdateKeepsWhatWasLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		adaptive := func(target time.Duration) bulkhead.Compartment {
			return bulkhead.Compartment{Config: weir.Config{Initial: 20, Law: law.Band{Target: target}}}
		}
		s := newSet(t, bulkhead.Config{Default: adaptive(10 * time.Millisecond)})
		for range 1000 {
			_ = s.Do(t.Context(), "search", work(20*time.Millisecond))
		}
		before := s.Snapshot().ByKey["search"]
		if before.Limit >= 20 {
			t.Fatalf("learned nothing: %+v", before)
		}
		if err := s.Update(bulkhead.Config{ByKey: byKey{"search": adaptive(15 * time.Millisecond)}}); err != nil {
			t.Fatal(err)
		}
		after := s.Snapshot().ByKey["search"]
		if after.Limit != before.Limit || after.Completed != 1000 || after.P95 != before.P95 {
			t.Errorf("before %+v\nafter %+v", before, after)
		}
		if n := s.Snapshot().Unknown; n != 0 {
			t.Errorf("%d unknown keys", n)
		}
	})
}

func TestUpdateIsWholeOrNotAtAll(t *testing.T) {
	old := bulkhead.Config{Max: 10, Default: fixed(1, 0, 0), ByKey: byKey{"a": fixed(2, 0, 0), "b": fixed(2, 0, 0)}}
	s := newSet(t, old)
	reserve := func(n int) bulkhead.Compartment {
		k := fixed(20, 0, 0)
		k.Reserved = n
		return k
	}
	for _, bad := range []bulkhead.Config{
		{Max: 10, ByKey: byKey{"a": reserve(6), "b": reserve(5), "c": {}}},
		{Max: 10, ByKey: byKey{"a": fixed(9, 0, 0), "b": {Share: -1}}},
		{Max: 10, ByKey: byKey{"a": fixed(9, 0, 0), "b": {Config: weir.Config{Law: law.Band{Target: -1}}}}},
		{ByKey: byKey{"a": fixed(9, 0, 0)}},
	} {
		if err := s.Update(bad); !errors.Is(err, weir.ErrConfig) {
			t.Errorf("got %v", err)
		}
		snap := s.Snapshot()
		if len(snap.ByKey) != 3 || snap.ByKey["a"].Limit != 2 || snap.ByKey["a"].Reserved != 0 || snap.Max != 10 ||
			snap.Leaving != 0 {
			t.Errorf("%+v", snap)
		}
	}
	uncapped := newSet(t, bulkhead.Config{})
	if err := uncapped.Update(old); !errors.Is(err, weir.ErrConfig) {
		t.Errorf("a cap was brought: %v", err)
	}
}

// TestReservesMove between keys while the cap shrinks to no more than their sum.
func TestReservesMove(t *testing.T) {
	reserved := func(a, b, c int) byKey {
		k := byKey{}
		for key, n := range map[string]int{"a": a, "b": b, "c": c} {
			if n > 0 {
				k[key] = bulkhead.Compartment{Config: fixed(20, 0, 0).Config, Reserved: n}
			}
		}
		return k
	}
	s := newSet(t, bulkhead.Config{Max: 10, ByKey: reserved(9, 1, 0)})
	for i, next := range []bulkhead.Config{
		{Max: 10, ByKey: reserved(1, 9, 0)},
		{Max: 10, ByKey: reserved(0, 0, 10)},
		{Max: 3, ByKey: reserved(1, 1, 1)},
		{Max: 30, ByKey: reserved(10, 10, 10)},
	} {
		if err := s.Update(next); err != nil {
			t.Fatalf("update %d: %v", i, err)
		}
		for key, k := range next.ByKey {
			for _, p := range hold(t, s, key, k.Reserved) {
				p.Done(nil)
			}
		}
		snap := s.Snapshot()
		for key, k := range next.ByKey {
			if snap.ByKey[key].Reserved != k.Reserved {
				t.Errorf("update %d: %s has %d reserved, want %d", i, key, snap.ByKey[key].Reserved, k.Reserved)
			}
		}
	}
}

// TestKeysVanishWhileTheirRequestsQueue: half of the table goes. Waiting work in it is
// served or times out by the old settings; new requests get the default.
func TestKeysVanishWhileTheirRequestsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := byKey{}
		for i := range 10 {
			table[fmt.Sprint(i)] = fixed(1, 2, 2*time.Second)
		}
		c := bulkhead.Config{Max: 100, Default: fixed(7, 0, 0), ByKey: table}
		s := newSet(t, c)
		var held []weir.Permit
		var lucky, unlucky []<-chan answer
		for i := range 10 {
			key := fmt.Sprint(i)
			held = append(held, hold(t, s, key, 1)...)
			lucky = append(lucky, ask(t.Context(), s, key))
			unlucky = append(unlucky, ask(t.Context(), s, key))
		}
		for i := range 5 {
			delete(table, fmt.Sprint(i))
		}
		if err := s.Update(c); err != nil {
			t.Fatal(err)
		}
		if snap := s.Snapshot(); snap.Leaving != 5 || snap.Total.InFlight != 10 || snap.Total.Queued != 20 {
			t.Errorf("leaving %d, in flight %d, queued %d", snap.Leaving, snap.Total.InFlight, snap.Total.Queued)
		}
		fresh := hold(t, s, "0", 7) // of the default, in a compartment of its own
		for i := range 10 {
			waits(t, lucky[i])
			held[i].Done(nil)
			held[i] = admitted(t, lucky[i])
		}
		time.Sleep(2 * time.Second)
		for i := range 10 {
			if err := refused(t, unlucky[i]); !errors.Is(err, weir.ErrQueueTimeout) {
				t.Error(err)
			}
			held[i].Done(nil)
		}
		for _, p := range fresh {
			p.Done(nil)
		}
		balanced(t, s)
		if snap := s.Snapshot(); snap.Leaving != 0 {
			t.Errorf("%d leave although their work is done", snap.Leaving)
		}
		if err := s.Update(c); err != nil {
			t.Fatal(err)
		}
		if snap := s.Snapshot(); snap.Leaving != 0 || snap.Total.Completed != 27 ||
			snap.Total.Refused[weir.ReasonQueueTimeout] != 10 {
			t.Errorf("leaving %d, %+v", snap.Leaving, snap.Total)
		}
	})
}

func TestFewerKeysThanThereAre(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 10, Default: fixed(1, 0, 0)})
	var held []weir.Permit
	for i := range 10 {
		held = append(held, hold(t, s, fmt.Sprint(i), 1)...)
	}
	c := bulkhead.Config{MaxKeys: 4, Default: fixed(1, 0, 0)}
	if err := s.Update(c); err != nil {
		t.Fatal(err)
	}
	if snap := s.Snapshot(); snap.Unknown != 4 || snap.Leaving != 6 || snap.Total.InFlight != 10 {
		t.Errorf("%+v", snap)
	}
	for _, p := range held {
		p.Done(nil)
	}
	for i := range 10 {
		hold(t, s, fmt.Sprint("new", i), 1)[0].Done(nil)
	}
	if snap := s.Snapshot(); snap.Unknown != 4 || snap.Leaving != 0 || snap.Total.Completed != 20 {
		t.Errorf("%+v", snap)
	}
}

func TestHandleFollowsAnUpdate(t *testing.T) {
	c := bulkhead.Config{Default: fixed(1, 0, 0), ByKey: byKey{"a": fixed(2, 0, 0)}}
	s := newSet(t, c)
	h, _ := s.Handle("a")
	for range 2 {
		if _, ok := h.TryAcquire(t.Context()); !ok {
			t.Error("refused")
		}
	}
	delete(c.ByKey, "a")
	if err := s.Update(c); err != nil {
		t.Fatal(err)
	}
	if _, ok := h.TryAcquire(t.Context()); !ok {
		t.Error("does not find the key's new compartment")
	}
	if _, ok := h.TryAcquire(t.Context()); ok {
		t.Error("goes by the old settings")
	}
}

func TestUpdatesFollowEachOther(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 12, Default: fixed(1, 0, 0)})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				k := bulkhead.Compartment{Config: fixed(12, 0, 0).Config, Reserved: 12}
				if err := s.Update(bulkhead.Config{
					Max: 12, Default: fixed(1, 0, 0), ByKey: byKey{fmt.Sprint(i): k},
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	snap := s.Snapshot()
	reserved := 0
	for _, k := range snap.ByKey {
		reserved += k.Reserved
	}
	if len(snap.ByKey) != 2 || reserved != 12 {
		t.Errorf("%d keys with %d reserved: a mixture of updates", len(snap.ByKey), reserved)
	}
}

// A fickle law accepts its settings once and then no more.
type fickle struct{ asked *int }

func (f fickle) Controller(b law.Bounds) (law.Controller, error) {
	if *f.asked++; *f.asked > 1 {
		return nil, errors.New("not again")
	}
	return law.Fixed{}.Controller(b)
}

func TestFickleLaw(t *testing.T) {
	asked := 0
	s := newSet(t, bulkhead.Config{MaxKeys: 1, Max: 10})
	hold(t, s, "a", 1)[0].Done(nil)
	err := s.Update(bulkhead.Config{
		MaxKeys: 1, Max: 10, ByKey: byKey{"b": {Config: weir.Config{Law: fickle{&asked}}}, "c": {}},
	})
	if !errors.Is(err, weir.ErrConfig) {
		t.Errorf("got %v", err)
	}
	if snap := s.Snapshot(); len(snap.ByKey) != 2 || snap.Unknown != 1 {
		t.Errorf("%+v", snap)
	}
	if _, err := s.Acquire(context.Background(), "a"); err != nil {
		t.Error(err)
	}
}
