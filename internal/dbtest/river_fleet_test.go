package dbtest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet/pgfleet"
	"github.com/weir-go/weir/internal/must"
)

// riverFleet has two processes work one queue of River, with a cap for both that they lease from
// each other in River's own database.
func riverFleet(t *testing.T, s *Server, pool *pgxpool.Pool) {
	const slots, jobs = 6, 400
	store := must.Have(pgfleet.New(t.Context(), OpenPostgres(t, s, "weir"), pgfleet.Config{Fleet: "river", Refresh: 100 * time.Millisecond}))(t)
	var running, most, ended atomic.Int64
	var lims []*weir.Limiter
	var last *riverClient
	for range 2 {
		lim := riverLimiter(100, weir.Queue{Size: 20, Timeout: patience})
		m := joined(t, store, lim, slots)
		lims = append(lims, lim)
		last = startRiver(t, pool, "fleet", lim, func(context.Context, int) error {
			now := running.Add(1)
			defer ended.Add(1)
			defer running.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			<-time.After(10 * time.Millisecond)
			return nil
		})
		t.Cleanup(func() { _ = m.Leave(context.Background()) })
	}
	last.insert(t, jobs)
	must.Happen(t, "all jobs have ended", func() bool { return ended.Load() == jobs })
	if n := most.Load(); n > slots || n < slots/2 {
		t.Errorf("%d jobs at once, of a cap of %d", n, slots)
	}
	for i, lim := range lims {
		if lim.Snapshot().Succeeded == 0 {
			t.Errorf("client %d did no job", i)
		}
	}
	t.Logf("up to %d at once, of a cap of %d", most.Load(), slots)
}
