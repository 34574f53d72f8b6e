package pgfleet

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/settings"
)

// A Config configures a [Store].
type Config struct {
	// Fleet names the fleet: several fleets may use one table. 1 to 63 bytes of UTF-8 without a
	// zero byte, which PostgreSQL does not keep.
	Fleet string

	// Refresh must be the [fleet.Config].Refresh of the members. A watch reads its entries four
	// times as often. Defaults to 1 s, as for members; from 50 ms to 1 minute.
	Refresh time.Duration

	// ReadOnly makes New neither apply [Schema] nor look for its table.
	ReadOnly bool
}

// Schema makes the table. It may be applied again.
const Schema = `
CREATE SEQUENCE IF NOT EXISTS weir_fleet_revision;
CREATE TABLE IF NOT EXISTS weir_fleet (
	fleet    text   NOT NULL,
	key      text   NOT NULL,
	value    bytea  NOT NULL,
	revision bigint NOT NULL DEFAULT nextval('weir_fleet_revision'),
	PRIMARY KEY (fleet, key)
)`

// A Store is a [fleet.Store]. Make one with [New]. It is safe for concurrent use.
type Store struct {
	db   *sql.DB
	conf Config
}

// New returns a store, and applies [Schema] first if there is no table. An error about a setting
// matches [weir.ErrConfig]; other errors come from the database.
func New(ctx context.Context, db *sql.DB, c Config) (*Store, error) {
	ctx = cmp.Or(ctx, context.Background())
	c.Refresh = cmp.Or(c.Refresh, time.Second)
	switch {
	case c.Fleet == "" || len(c.Fleet) > 63 || !utf8.ValidString(c.Fleet) || strings.Contains(c.Fleet, "\x00"):
		return nil, settings.Invalid(weir.ErrConfig, "pgfleet: Fleet", strconv.Quote(c.Fleet), "1 to 63 bytes of UTF-8 without a zero byte")
	case c.Refresh < 50*time.Millisecond || c.Refresh > time.Minute:
		return nil, settings.Invalid(weir.ErrConfig, "pgfleet: Refresh", c.Refresh, "0 (the default, 1s) or 50ms to 1m")
	}
	if !c.ReadOnly {
		if err := create(ctx, db); err != nil {
			return nil, fmt.Errorf("pgfleet: cannot make the table weir_fleet: %w", err)
		}
	}
	return &Store{db, c}, nil
}

// create makes the table if there is none. A role that may not make tables can use a table that
// exists. create takes a lock, because PostgreSQL fails the second of two sessions that make the
// table together.
func create(ctx context.Context, db *sql.DB) error {
	var there bool
	if err := db.QueryRowContext(ctx, `SELECT to_regclass('weir_fleet') IS NOT NULL`).Scan(&there); err != nil || there {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtext('weir_fleet'))`); err != nil {
		return err
	}
	for statement := range strings.SplitSeq(Schema, ";") { // a driver may take only one statement at a time
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Write applies a write.
func (s *Store) Write(ctx context.Context, w fleet.Write) error {
	ctx = cmp.Or(ctx, context.Background())
	if w.Rev > math.MaxInt64 {
		return nil // no row has that revision
	}
	var err error
	switch rev := int64(w.Rev); {
	case w.Value == nil && w.Swap:
		_, err = s.db.ExecContext(ctx, `DELETE FROM weir_fleet WHERE fleet = $1 AND key = $2 AND revision = $3`, s.conf.Fleet, w.Key, rev)
	case w.Value == nil:
		_, err = s.db.ExecContext(ctx, `DELETE FROM weir_fleet WHERE fleet = $1 AND key = $2`, s.conf.Fleet, w.Key)
	case w.Swap && rev == 0:
		_, err = s.db.ExecContext(ctx, `INSERT INTO weir_fleet (fleet, key, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			s.conf.Fleet, w.Key, w.Value)
	case w.Swap:
		_, err = s.db.ExecContext(ctx, `UPDATE weir_fleet SET value = $3, revision = nextval('weir_fleet_revision')
			WHERE fleet = $1 AND key = $2 AND revision = $4`, s.conf.Fleet, w.Key, w.Value, rev)
	default:
		_, err = s.db.ExecContext(ctx, `INSERT INTO weir_fleet (fleet, key, value) VALUES ($1, $2, $3)
			ON CONFLICT (fleet, key) DO UPDATE SET value = excluded.value, revision = excluded.revision`,
			s.conf.Fleet, w.Key, w.Value)
	}
	return err
}

// Watch reads the entries below a key at each poll, and shows the changes.
func (s *Store) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	ctx = cmp.Or(ctx, context.Background())
	var seen fleet.Changes
	poll := time.NewTicker(s.conf.Refresh / 4)
	defer poll.Stop()
	for {
		entries, err := s.read(ctx, key)
		if err != nil {
			return err
		}
		seen.Show(entries, see)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
}

func (s *Store) read(ctx context.Context, key string) (entries []fleet.Entry, err error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rows, err := s.db.QueryContext(limited, `SELECT key, value, revision FROM weir_fleet
		WHERE fleet = $1 AND ($2 = '' OR key = $2 OR starts_with(key, $2 || '.'))`, s.conf.Fleet, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err has its error
	for rows.Next() {
		var e fleet.Entry
		if err := rows.Scan(&e.Key, &e.Value, &e.Rev); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// patience is how long a reading may take. Without it a connection that hangs would keep a watch
// from beginning anew.
const patience = 5 * time.Second
