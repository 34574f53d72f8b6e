package dbtest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/weir-go/weir/internal/must"
)

// Postgres starts PostgreSQL for a test.
func Postgres(t testing.TB) *Server {
	t.Helper()
	return start(t, "postgres", func(ctx context.Context, address string) error {
		db, err := sql.Open("pgx", postgresURL(address, "weir"))
		if err != nil {
			return err
		}
		defer db.Close()
		return db.PingContext(ctx)
	})
}

func postgresURL(address, user string) string {
	return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", user, address)
}

// OpenPostgres opens a pool of connections of a user, for the duration of the test. "weir"
// is the superuser.
func OpenPostgres(t testing.TB, s *Server, user string) *sql.DB {
	t.Helper()
	db := must.Have(sql.Open("pgx", postgresURL(s.Address(), user)))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// Exec runs a statement.
func Exec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
