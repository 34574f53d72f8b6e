package dbtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/pgfleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/law"
)

// TestFleet runs fleets that meet in PostgreSQL.
func TestFleet(t *testing.T) {
	s := Postgres(t)
	stores := 0
	open := func(t *testing.T) fleet.Store {
		stores++
		store, err := pgfleet.New(t.Context(), OpenPostgres(t, s, "weir"), pgfleet.Config{
			Fleet: fmt.Sprintf("fleet_%d%%", stores), Poll: 20 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	t.Run("the store", func(t *testing.T) { storetest.Test(t, open) })
	t.Run("a cap", func(t *testing.T) { fleetKeepsItsCap(t, s, open) })
}

// fleetKeepsItsCap has three members with work for all of the cap, through a restart of the server
// and the loss of all entries. At no time runs more than the cap, and the cap is used again each
// time.
func fleetKeepsItsCap(t *testing.T, s *Server, open func(*testing.T) fleet.Store) {
	const limit, members = 12, 3
	store := open(t)
	var running, most atomic.Int64
	work := func(ctx context.Context) error {
		n := running.Add(1)
		defer running.Add(-1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	var party []*fleet.Member
	for range members {
		lim := weir.Must(weir.New(weir.Config{Max: 100, Law: law.Fixed{Limit: 100}, Queue: weir.Queue{Size: 100}}))
		m, err := fleet.Join(fleet.Config{
			Store: store, Actuator: fleet.Limiter(lim), Cap: limit,
			Refresh: 100 * time.Millisecond, TTL: time.Second, Grace: 100 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		party = append(party, m)
		defer func() {
			if err := m.Leave(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		for range limit {
			clients.Go(func() {
				for ctx.Err() == nil {
					_ = lim.Do(ctx, work)
				}
			})
		}
	}
	await := func(text string, is func() bool) {
		t.Helper()
		end := time.Now().Add(30 * time.Second)
		for range time.Tick(time.Millisecond) {
			if is() {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("not within 30 s: %s; %d run, %+v", text, running.Load(), party[0].Snapshot())
			}
		}
	}
	each := func(is func(fleet.Snapshot) bool) func() bool {
		return func() bool {
			return !slices.ContainsFunc(party, func(m *fleet.Member) bool { return !is(m.Snapshot()) })
		}
	}
	leased := each(func(s fleet.Snapshot) bool { return s.Leased })
	full := func() bool { return running.Load() == limit }
	await("leases at the start", leased)
	await("all slots are used", full)
	s.Kill(t)
	await("the leases end without the server", each(func(s fleet.Snapshot) bool { return !s.Leased && s.Err != "" }))
	s.Restart(t)
	await("leases after a crash of the server", leased)
	await("all slots are used after a crash of the server", full)
	before := party[0].Snapshot().Epoch
	if _, err := OpenPostgres(t, s, "weir").ExecContext(t.Context(), "TRUNCATE weir_fleet"); err != nil {
		t.Fatal(err)
	}
	await("an allocator without any entries", each(func(s fleet.Snapshot) bool { return s.Epoch > before && s.Leased }))
	await("all slots are used without any entries", full)
	if n := most.Load(); n > limit {
		t.Errorf("%d ran at once above the cap of %d", n, limit)
	}
}
