package bulkhead_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

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
		if len(snap.ByKey) != 2 || snap.ByKey["a"].Limit != 2 || snap.ByKey["a"].Reserved != 0 || snap.Max != 10 ||
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
			giveBack(hold(t, s, key, k.Reserved))
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
		update(t, s, c)
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
		giveBack(fresh)
		balanced(t, s)
		if snap := s.Snapshot(); snap.Leaving != 0 {
			t.Errorf("%d leave although their work is done", snap.Leaving)
		}
		update(t, s, c)
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
	update(t, s, c)
	if snap := s.Snapshot(); snap.Unknown != 4 || snap.Leaving != 6 || snap.Total.InFlight != 10 {
		t.Errorf("%+v", snap)
	}
	giveBack(held)
	for i := range 10 {
		hold(t, s, fmt.Sprint("new", i), 1)[0].Done(nil)
	}
	if snap := s.Snapshot(); snap.Unknown != 4 || snap.Leaving != 0 || snap.Total.Completed != 20 {
		t.Errorf("%+v", snap)
	}
}

// A set one of whose laws panics in the middle of an update has it whole all the same.
func TestUpdateWithAPanicIsWhole(t *testing.T) {
	keys := []string{"a", "b", "c", "d", "e"}
	table := func(limit int, retune func()) bulkhead.Config {
		c := bulkhead.Config{Max: 100, Default: fixed(limit, 0, 0), ByKey: byKey{}}
		for _, key := range keys {
			k := bulkhead.Compartment{Config: weir.Config{Min: limit, Max: limit, Law: hostileLaw{nothing, nothing, nothing}}, Reserved: 1}
			if key == "c" {
				k.Config.Law = hostileLaw{nothing, nothing, retune}
			}
			c.ByKey[key] = k
		}
		return c
	}
	s := newSet(t, table(10, func() { panic("boom") }))
	hold(t, s, "dynamic", 1)[0].Done(nil)
	leaves(t, func() { _ = s.Update(table(20, nothing)) })
	for _, key := range append(keys, "dynamic") {
		if k := s.Snapshot().ByKey[key]; k.Limit != 20 {
			t.Errorf("%s has limit %d, want 20", key, k.Limit)
		}
	}
	must.Do(t, s.Update(table(30, nothing)))
}

// A law of a new key that cannot be started keeps all of the update from being applied, whichever
// of its starts fails, and whether by a panic or an error.
func TestUpdateWithoutItsLawIsNotApplied(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 10, ByKey: byKey{"a": fixed(2, 0, 0), "b": fixed(2, 0, 0)}})
	hold(t, s, "dynamic", 1)[0].Done(nil)
	before := s.Snapshot()
	update := func(bad int, fail func() error) (err error) {
		starts := 0
		fails := fixed(9, 0, 0)
		fails.Config.Law = starting(func() error {
			if starts++; starts == bad {
				return fail()
			}
			return nil
		})
		next := bulkhead.Config{
			Max: 50, Default: fixed(9, 0, 0),
			ByKey: byKey{"a": fixed(9, 0, 0), "b": fixed(9, 0, 0), "new": fails, "other": fails},
		}
		defer func() {
			if v := recover(); v != nil {
				err = weir.ErrConfig
			}
		}()
		return s.Update(next)
	}
	const starts = 4 // of two new keys: to check the settings, and for their limiters
	for bad := 1; bad <= starts; bad++ {
		for _, fail := range []func() error{func() error { panic("boom") }, func() error { return errors.New("not again") }} {
			if err := update(bad, fail); !errors.Is(err, weir.ErrConfig) {
				t.Errorf("start %d: %v", bad, err)
			}
			after := s.Snapshot()
			if after.Max != before.Max || len(after.ByKey) != len(before.ByKey) {
				t.Errorf("start %d: cap %d and %d keys: want %d and %d",
					bad, after.Max, len(after.ByKey), before.Max, len(before.ByKey))
			}
			for key, k := range after.ByKey {
				if k.Limit != before.ByKey[key].Limit {
					t.Errorf("start %d: %q has limit %d, want %d", bad, key, k.Limit, before.ByKey[key].Limit)
				}
			}
		}
	}
	if err, after := update(0, nil), s.Snapshot(); err != nil || after.Max != 50 || after.ByKey["new"].Limit != 9 {
		t.Errorf("%v, with a cap of %d and %+v: want 50 and a limit of 9", err, after.Max, after.ByKey["new"])
	}
}

// starting is a law that keeps its limit and calls a function whenever it is started.
type starting func() error

func (s starting) Controller(law.Bounds) (law.Controller, error) { return s, s() }

func (starting) Next(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit)} }
