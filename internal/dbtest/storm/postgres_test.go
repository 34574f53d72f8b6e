package storm

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/dbtest"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
	"github.com/weir-go/weir/throttle"
)

// hotRows is a table whose first row everybody writes to.
type hotRows struct{ db *sql.DB }

const coldRows = 10_000

func newHotRows(t *testing.T, s *dbtest.Server) hotRows {
	admin := dbtest.OpenPostgres(t, s, "weir")
	dbtest.Exec(t, admin, "CREATE TABLE rows (id int PRIMARY KEY, n int NOT NULL)")
	dbtest.Exec(t, admin, "INSERT INTO rows SELECT g, 0 FROM generate_series(1, $1) g", coldRows)
	db := dbtest.OpenPostgres(t, s, "weir")
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return hotRows{db}
}

// write holds the row for the length of a transaction of three statements.
func (h hotRows) write(ctx context.Context, _ int) error {
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no more than a formality after Commit
	if _, err := tx.ExecContext(ctx, "UPDATE rows SET n = n + 1 WHERE id = 1"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE rows SET n = n + 1 WHERE id = $1", 2+rand.IntN(coldRows-1)); err != nil {
		return err
	}
	return tx.Commit()
}

func (h hotRows) read(ctx context.Context, _ int) error {
	var n int
	return h.db.QueryRowContext(ctx, "SELECT n FROM rows WHERE id = $1", 1+rand.IntN(coldRows)).Scan(&n)
}

// TestPostgres: writers that wait for one row keep the connections that readers want.
func TestPostgres(t *testing.T) {
	s := dbtest.Postgres(t)
	db := newHotRows(t, s)
	through := func(laws ...throttle.LoadLaw) func(t *testing.T) result {
		return func(t *testing.T) result {
			return inDatabase(t, db, func(ctx context.Context) storm.Gate {
				return onWaits(t, ctx, &sqlload.Postgres{DB: dbtest.OpenPostgres(t, s, "weir")}, laws)
			})
		}
	}
	medians := compare(t, mixedColumns,
		contender{unthrottled, func(t *testing.T) result {
			return inDatabase(t, db, func(context.Context) storm.Gate { return storm.Open })
		}},
		contender{pidOnWaits, through(throttle.PID{})},
		contender{sixteenAtOnce, func(t *testing.T) result { return inDatabase(t, db, limited(t, law.Fixed{}, 16)) }},
		contender{"weir.Limiter", func(t *testing.T) result { return inDatabase(t, db, limited(t, nil, 0)) }},
		contender{concurrencyOnWaits, through()},
	)
	atMost(t, medians, "read p99", concurrencyOnWaits, 1./3, unthrottled)
	atLeast(t, medians, "writes/s", concurrencyOnWaits, 0.8, unthrottled) // the medians of 0.83 and 1.16 differ by the disk
	atLeast(t, medians, "reads/s", concurrencyOnWaits, 1, unthrottled)
}

const sixteenAtOnce = "MaxInFlight: 16"

func limited(t *testing.T, l law.Law, at int) func(ctx context.Context) storm.Gate {
	return func(ctx context.Context) storm.Gate {
		lim, err := weir.New(weir.Config{Law: l, Initial: at, Queue: weir.Queue{Size: 2 * stormWriters, Timeout: 5 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			var seen []int
			for ctx.Err() == nil {
				time.Sleep(time.Second)
				seen = append(seen, lim.Snapshot().Limit)
			}
			t.Log("limits", seen)
			for _, c := range lim.History() {
				t.Log(c)
			}
		}()
		return func(ctx context.Context) (func(error), error) {
			p, err := lim.Acquire(ctx)
			return func(err error) { p.Done(err) }, err
		}
	}
}

const (
	pidOnWaits         = "PID on lock waits"
	concurrencyOnWaits = "Concurrency (default)"
)

// onWaits is the throttle for a database whose transactions wait for one another.
func onWaits(t *testing.T, ctx context.Context, source load.Source, laws []throttle.LoadLaw) storm.Gate {
	mon, err := load.New(load.Config{
		Feeds:    []load.Feed{{Source: source}},
		Interval: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	th, err := throttle.New(throttle.Config{
		Monitor: mon,
		Writes: throttle.Side{
			Laws:  laws,
			Queue: weir.Queue{Size: 2 * stormWriters, Timeout: 5 * time.Second},
		},
		Tick: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	go mon.Run(ctx)
	go th.Run(ctx)
	go logBounds(t, ctx, th)
	return storm.Through(th, throttle.Write, 1)
}
