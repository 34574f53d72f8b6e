package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
)

// TestPostgres is one test with parts, because a server takes seconds to start.
func TestPostgres(t *testing.T) {
	t.Parallel()
	s := Postgres(t)
	t.Run("an idle server has no active session but the monitor's", func(t *testing.T) { postgresIdle(t, s) })
	t.Run("who waits for a row is waiting for a lock", func(t *testing.T) { postgresLocked(t, s) })
	t.Run("a privilege that is revoked", func(t *testing.T) { postgresRevoked(t, s) })
	t.Run("a user that the server does not know", func(t *testing.T) { postgresDenied(t, s) })
	t.Run("a pool that is full does not keep the monitor out", func(t *testing.T) { postgresFull(t, s) })
	t.Run("a server that hangs and restarts", func(t *testing.T) { outlives(t, s, postgresSource(t, s, "weir")) })
}

func postgresSource(t *testing.T, s *Server, user string) *sqlload.Postgres {
	t.Helper()
	return &sqlload.Postgres{DB: OpenPostgres(t, s, user)}
}

func postgresIdle(t *testing.T, s *Server) {
	source, other := postgresSource(t, s, "weir"), OpenPostgres(t, s, "weir")
	until(t, source, "no active session", func(v map[string]float64) bool { return v["active sessions"] == 0 })
	// The server's own answer includes the asking client, which is active.
	var active int
	must.Do(t, other.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND datname = current_database()").Scan(&active))
	if active != 1 {
		t.Errorf("%d sessions are active to one that counts itself, want 1", active)
	}
}

// hold locks the one row of a fresh table and returns a function that releases it.
func hold(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	Exec(t, db, "DROP TABLE IF EXISTS hot")
	Exec(t, db, "CREATE TABLE hot (id int PRIMARY KEY, n int)")
	Exec(t, db, "INSERT INTO hot VALUES (1, 0)")
	tx := must.Have(db.BeginTx(t.Context(), nil))(t)
	must.Have(tx.ExecContext(t.Context(), "UPDATE hot SET n = n + 1 WHERE id = 1"))(t)
	return func() { tx.Rollback() }
}

func postgresLocked(t *testing.T, s *Server) {
	source, db := postgresSource(t, s, "weir"), OpenPostgres(t, s, "weir")
	release := hold(t, db)
	const waiting = 3
	ended := make(chan error)
	for range waiting {
		go func() {
			_, err := db.ExecContext(context.Background(), "UPDATE hot SET n = n + 1 WHERE id = 1")
			ended <- err
		}()
	}
	until(t, source, "3 that wait for a lock", func(v map[string]float64) bool {
		return v["waiting for a lock"] == waiting && v["active sessions"] == waiting
	})
	release()
	for range waiting {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	until(t, source, "none", func(v map[string]float64) bool { return v["waiting for a lock"] == 0 })
}

// Without the privilege the server hides the activity of other sessions, which would read as
// a load of 0.
func postgresRevoked(t *testing.T, s *Server) {
	admin := OpenPostgres(t, s, "weir")
	Exec(t, admin, "CREATE ROLE monitor LOGIN")
	Exec(t, admin, "GRANT pg_monitor TO monitor")
	source := postgresSource(t, s, "monitor")
	m := watch(t, source)
	m.answers(t)
	Exec(t, admin, "REVOKE pg_monitor FROM monitor")
	if err := m.goesStale(t); !errors.Is(err, sqlload.ErrPrivilege) {
		t.Errorf("it is stale because of %v, want that the privilege is missing", err)
	}
	if err := m.Snapshot()[0].Err; !errors.Is(err, load.ErrDenied) {
		t.Errorf("%v: want one that has the monitor leave the server alone", err)
	}
	Exec(t, admin, "GRANT pg_monitor TO monitor")
	values(t, source) // the monitor leaves it alone for half a minute: load.TestDeniedSourceIsLeftAlone
}

func postgresFull(t *testing.T, s *Server) {
	db := OpenPostgres(t, s, "weir")
	db.SetMaxOpenConns(2)
	release := hold(t, db)
	defer release()
	pool := &sqlload.ConnPool{DB: db}
	values(t, pool)
	ctx, cancel := context.WithCancel(t.Context())
	for range 5 {
		go db.ExecContext(ctx, "UPDATE hot SET n = n + 1 WHERE id = 1")
	}
	source := postgresSource(t, s, "weir")
	until(t, source, "one that waits for the row", func(v map[string]float64) bool { return v["waiting for a lock"] == 1 })
	until(t, pool, "both connections in use", func(v map[string]float64) bool { return v["connections in use"] == 2 })
	cancel()
}
