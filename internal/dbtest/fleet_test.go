package dbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/pgfleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/pipe"
	"github.com/weir-go/weir/law"
)

// TestFleet runs fleets that meet in PostgreSQL.
func TestFleet(t *testing.T) {
	t.Parallel()
	s := Postgres(t)
	stores := 0
	open := func(t *testing.T) fleet.Store {
		stores++
		return must.Have(pgfleet.New(t.Context(), OpenPostgres(t, s, "weir"), pgfleet.Config{
			Fleet: fmt.Sprintf("fleet_%d%%", stores), Refresh: 100 * time.Millisecond,
		}))(t)
	}
	t.Run("the store", func(t *testing.T) { storetest.Test(t, open) })
	t.Run("a role that may not create tables", func(t *testing.T) { roleUsesTheTable(t, s) })
	t.Run("a cap", func(t *testing.T) { fleetKeepsItsCap(t, s, open) })
	t.Run("the companion of a proxy", func(t *testing.T) { companionServesTheStore(t, s) })
}

// roleUsesTheTable opens the table that is there with the least privileges.
func roleUsesTheTable(t *testing.T, s *Server) {
	admin := OpenPostgres(t, s, "weir")
	Exec(t, admin, "CREATE ROLE member LOGIN")
	Exec(t, admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON weir_fleet TO member")
	Exec(t, admin, "GRANT USAGE ON weir_fleet_revision TO member")
	store := must.Have(pgfleet.New(t.Context(), OpenPostgres(t, s, "member"), pgfleet.Config{Fleet: "member"}))(t)
	must.Do(t, fleet.SaveState(t.Context(), store, "search", []byte("{}")))
	if state, err := fleet.LoadState(t.Context(), store, "search"); err != nil || string(state) != "{}" {
		t.Errorf("it reads %q, %v", state, err)
	}
}

// companionServesTheStore runs weir-fleet as "weir proxy" does. It makes the table again after a
// failover to a server without it.
func companionServesTheStore(t *testing.T, s *Server) {
	program := filepath.Join(t.TempDir(), "weir-fleet")
	if said, err := exec.Command("go", "build", "-o", program, "github.com/weir-go/weir/cmd/weir-fleet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	n := 0
	open := func(t *testing.T) fleet.Store {
		n++
		variable := must.Have(handover.Request{Fleet: &handover.Fleet{
			Name: fmt.Sprintf("companion-%d", n), Store: postgresURL(s.Address(), "weir"),
		}}.Encode())(t)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), variable)
		in := must.Have(cmd.StdinPipe())(t)
		out := must.Have(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		store := pipe.New(out, in)
		ended := make(chan error, 1)
		go func() { _ = store.Run(); ended <- cmd.Wait() }()
		t.Cleanup(func() {
			in.Close()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return store
	}
	storetest.Test(t, open)
	store := open(t)
	write := func() error { return store.Write(t.Context(), fleet.Write{Key: "a", Value: []byte("1")}) }
	must.Do(t, write())
	Exec(t, OpenPostgres(t, s, "weir"), "DROP TABLE weir_fleet")
	if err := write(); err == nil || !strings.Contains(err.Error(), "weir_fleet") {
		t.Errorf("%v, want that the table is gone", err)
	}
	must.Happen(t, "the table is there again", func() bool { return write() == nil })
}

// joined has a limiter lease a share of a cap.
func joined(t *testing.T, store fleet.Store, lim *weir.Limiter, limit int) *fleet.Member {
	t.Helper()
	return must.Have(fleet.Join(fleet.Config{
		Store: store, Actuator: fleet.Limiter(lim), Cap: limit,
		Refresh: 100 * time.Millisecond, TTL: time.Second, Grace: 100 * time.Millisecond,
	}))(t)
}

// fleetKeepsItsCap has three members with work for all of the cap, through a restart of the server,
// the loss of all entries, and a failover to a server without a table, whose revisions begin anew.
// At no time runs more than the cap, and the cap is used again each time.
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
		m := joined(t, store, lim, limit)
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
		must.Happen(t, text, is)
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
	must.Have(OpenPostgres(t, s, "weir").ExecContext(t.Context(), "TRUNCATE weir_fleet"))(t)
	await("an allocator without any entries", each(func(s fleet.Snapshot) bool { return s.Epoch > before && s.Leased }))
	await("all slots are used without any entries", full)
	db := OpenPostgres(t, s, "weir")
	Exec(t, db, "DROP TABLE weir_fleet")
	Exec(t, db, "DROP SEQUENCE weir_fleet_revision")
	await("the members say that there is no table", each(func(s fleet.Snapshot) bool { return !s.Leased && strings.Contains(s.Err, "weir_fleet") }))
	must.Have(pgfleet.New(t.Context(), db, pgfleet.Config{Fleet: "another"}))(t) // as each process does that starts
	await("leases from an empty server", each(func(s fleet.Snapshot) bool { return s.Leased && s.Err == "" }))
	await("all slots are used with an empty server", full)
	if n := most.Load(); n > limit {
		t.Errorf("%d ran at once above the cap of %d", n, limit)
	}
}
