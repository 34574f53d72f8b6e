package sqlload

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/weir-go/weir/load"
)

// Postgres measures the waits of a PostgreSQL database's sessions. It asks through a pool of its
// own, so that it does not queue behind the load that it measures. It leaves its own session out.
//
// Its user has to be a member of pg_monitor, or the user of all sessions. Otherwise the database
// hides sessions, and Poll fails with [ErrPrivilege]. That error, and an error by which the server
// does not let the user in, match [load.ErrDenied].
type Postgres struct {
	// DB is a pool on the same database that nothing else uses. Required. In a shared pool a poll
	// would wait for a connection.
	DB *sql.DB
}

// ErrPrivilege matches the error of a monitor whose user may not see the sessions of others.
var ErrPrivilege = fmt.Errorf("sqlload: the sessions of other users are hidden: GRANT pg_monitor to the monitor's user: %w", load.ErrDenied)

// The limits are numbers of sessions that wait for a lock of a row or table, for the disk, or for a
// lock within the server. Some sessions have to wait for a contended row, so that it is never idle,
// and each further session makes the server slower. Of 64 clients with pgbench's transaction, a
// bound let 3, 5 or 11 run at once, of which all but one or two wait. They wrote 1.7, 1.5 and 1.1
// times as much as all clients at once (TestPgbench of internal/dbtest/storm at commit f84f4eaa). A
// pace needs a higher limit: with a limit of 4 and a PID writes fell to a half, with 10 to 0.95.
// The disk and the server's own locks serve several sessions at once.
const (
	maxLocked   = 4
	maxIO       = 16
	maxInternal = 16
)

// Name returns "postgres".
func (*Postgres) Name() string { return "postgres" }

// Check implements [load.Checker].
func (p *Postgres) Check() error { return needed("Postgres.DB", p.DB) }

// activity counts the sessions of this database except for the session that asks. A hidden session
// has '<insufficient privilege>' as its query.
const activity = `SELECT
	count(*) FILTER (WHERE state = 'active'),
	count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock'),
	count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'IO'),
	count(*) FILTER (WHERE state = 'active' AND wait_event_type IN ('LWLock', 'BufferPin', 'IPC')),
	count(*) FILTER (WHERE query = '<insufficient privilege>' AND usesysid IS NOT NULL)
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()`

// Poll implements [load.Source]. A nil ctx counts as context.Background.
func (p *Postgres) Poll(ctx context.Context) (load.Sample, error) {
	ctx = cmp.Or(ctx, context.Background())
	var active, locked, io, internal, hidden float64
	err := p.DB.QueryRowContext(ctx, activity).Scan(&active, &locked, &io, &internal, &hidden)
	if err != nil {
		return load.Sample{}, fmt.Errorf("sqlload: pg_stat_activity: %w", explain(err))
	}
	if hidden > 0 {
		return load.Sample{}, fmt.Errorf("%w: %.0f are hidden", ErrPrivilege, hidden)
	}
	return load.Sample{Actuator: load.ByConcurrency, Readings: []load.Reading{
		{Name: "active sessions", Value: active, Limit: math.Inf(1)},
		{Name: "waiting for a lock", Value: locked, Limit: maxLocked, Scope: load.Writes},
		{Name: "waiting for the disk", Value: io, Limit: maxIO},
		{Name: "waiting for the server", Value: internal, Limit: maxInternal},
	}}, nil
}

// explain makes the server's errors about authentication and privileges match load.ErrDenied. The
// codes are SQLSTATEs, which errors of pgx and lib/pq have: class 28 is authentication, 42501 a
// missing privilege.
func explain(err error) error {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) && (strings.HasPrefix(coded.SQLState(), "28") || coded.SQLState() == "42501") {
		return fmt.Errorf("%w: %w", load.ErrDenied, err)
	}
	return err
}
