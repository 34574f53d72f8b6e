package storm

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/dbtest"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
	"github.com/weir-go/weir/throttle"
)

// bank has the tables of pgbench at scale 1, on which its transaction contends for the one row of the branches. Its pool has a
// connection for each client, as pgbench -c has.
type bank struct{ db *sql.DB }

func newBank(t *testing.T, s *dbtest.Server) bank {
	host, port, err := net.SplitHostPort(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	initialise := exec.Command("pgbench", "-i", "-q", "-s", "1", "-h", host, "-p", port, "-U", "weir", "postgres")
	if text, err := initialise.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", initialise, err, text)
	}
	db := dbtest.OpenPostgres(t, s, "weir")
	db.SetMaxOpenConns(stormWriters + stormReaders)
	db.SetMaxIdleConns(stormWriters + stormReaders)
	return bank{db}
}

const (
	accounts = 100_000
	tellers  = 10
)

// write is pgbench's transaction, "TPC-B (sort of)".
func (b bank) write(ctx context.Context, _ int) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no more than a formality after Commit
	account, teller, delta := 1+rand.IntN(accounts), 1+rand.IntN(tellers), rand.IntN(10_001)-5000
	var balance int
	if _, err := tx.ExecContext(ctx, "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2", delta, account); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "SELECT abalance FROM pgbench_accounts WHERE aid = $1", account).Scan(&balance); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2", delta, teller); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = 1", delta); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES ($1, 1, $2, $3, CURRENT_TIMESTAMP)",
		teller, account, delta); err != nil {
		return err
	}
	return tx.Commit()
}

func (b bank) read(ctx context.Context, _ int) error {
	var balance int
	return b.db.QueryRowContext(ctx, "SELECT abalance FROM pgbench_accounts WHERE aid = $1", 1+rand.IntN(accounts)).Scan(&balance)
}

const tenAtOnce = "MaxInFlight: 10"

// TestPgbench: a bound on what runs at once, found from lock waits, is as good as one set by hand.
func TestPgbench(t *testing.T) {
	s := dbtest.Postgres(t)
	db := newBank(t, s)
	through := func(name string, side throttle.Side) contender {
		return contender{name, func(t *testing.T) result {
			return inDatabase(t, db, func(ctx context.Context) storm.Gate {
				th := bounding(t, ctx, &sqlload.Postgres{DB: dbtest.OpenPostgres(t, s, "weir")}, side)
				go logBounds(t, ctx, th)
				return storm.Through(th, throttle.Write, 1)
			})
		}}
	}
	medians := compare(t, mixedColumns,
		contender{unthrottled, func(t *testing.T) result {
			return inDatabase(t, db, func(context.Context) storm.Gate { return storm.Open })
		}},
		through(pidOnWaits, throttle.Side{Laws: []throttle.LoadLaw{throttle.PID{}}}),
		through(tenAtOnce, throttle.Side{Laws: []throttle.LoadLaw{throttle.PID{Setpoint: 1e9}}, MaxInFlight: 10}),
		through(concurrencyOnWaits, throttle.Side{}),
	)
	atLeast(t, medians, "writes/s", concurrencyOnWaits, 1, unthrottled)
	atMost(t, medians, "with wait p99", concurrencyOnWaits, 0.5, unthrottled)
	atMost(t, medians, "read p99", concurrencyOnWaits, 1.15, unthrottled)
}

// logBounds logs what the throttle let in at once, each second until ctx ends.
func logBounds(t *testing.T, ctx context.Context, th *throttle.Throttle) {
	var bounds []int
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			t.Logf("at once, each second: %v", bounds)
			return
		case <-second.C:
			bounds = append(bounds, th.Snapshot().Writes.MaxInFlight)
		}
	}
}

// bounding returns a throttle that goes by the source until ctx ends.
func bounding(t *testing.T, ctx context.Context, source load.Source, writes throttle.Side) *throttle.Throttle {
	mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: source}}})
	if err != nil {
		t.Fatal(err)
	}
	writes.Queue = weir.Queue{Size: 2 * stormWriters, Timeout: 5 * time.Second}
	th, err := throttle.New(throttle.Config{Monitor: mon, Writes: writes})
	if err != nil {
		t.Fatal(err)
	}
	go mon.Run(ctx)
	go th.Run(ctx)
	return th
}
