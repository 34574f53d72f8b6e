package storm

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/dbtest"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
)

// bank has the tables of pgbench at scale 1, where its transactions contend for the one row
// of the branches.
type bank struct {
	server string
	db     *sql.DB // for concurrent readers
}

func newBank(t *testing.T, s *dbtest.Server) bank {
	if text, err := pgbench(t.Context(), s.Address(), "-i", "-q", "-s", "1").CombinedOutput(); err != nil {
		t.Fatalf("pgbench: %v\n%s", err, text)
	}
	db := dbtest.OpenPostgres(t, s, "weir")
	db.SetMaxOpenConns(stormReaders)
	db.SetMaxIdleConns(stormReaders)
	return bank{s.Address(), db}
}

// pgbench is a run of pgbench against an address.
func pgbench(ctx context.Context, address string, args ...string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(address)
	return exec.CommandContext(ctx, "pgbench", append(args, "-h", host, "-p", port, "-U", "weir", "postgres")...)
}

const accounts = 100_000

func (b bank) read(ctx context.Context, _ int) error {
	var balance int
	return b.db.QueryRowContext(ctx, "SELECT abalance FROM pgbench_accounts WHERE aid = $1", 1+rand.IntN(accounts)).Scan(&balance)
}

// storm runs pgbench with 64 clients through a pooler with a connection for each of them,
// and readers at the same time.
func (b bank) storm(t *testing.T, guard func(context.Context) storm.Gate) result {
	ctx, from, during := schedule(t)
	p := newPooler(t, ctx, b.server, stormWriters, from, guard(ctx))
	prefix := filepath.Join(t.TempDir(), "log")
	writers := pgbench(t.Context(), p.listener.Addr().String(), "-n", "-c", strconv.Itoa(stormWriters), "-j", "2",
		"-T", strconv.Itoa(int(math.Ceil(time.Until(from.Add(during)).Seconds()))), "-l", "--log-prefix", prefix)
	readers := &crowd{clients: stormReaders, gate: storm.Open, work: b.read, pause: readEvery}
	reading := make(chan struct{})
	go func() { readers.run(ctx, from); close(reading) }()
	if text, err := writers.CombinedOutput(); err != nil && ctx.Err() == nil {
		t.Fatalf("pgbench: %v\n%s", err, text)
	}
	<-reading

	written := transactions(t, prefix, from, during)
	read, _ := readers.log.count()
	latency := readers.log.database()
	return result{
		"writes/s":      float64(len(written)) / during.Seconds(),
		"reads/s":       float64(read) / during.Seconds(),
		"read p50":      latency.quantile(0.5),
		"read p99":      latency.quantile(0.99),
		"write p99":     p.database().quantile(0.99),
		"with wait p99": written.quantile(0.99),
	}
}

// transactions returns the latencies that pgbench logged in a time span. A line has the
// client, the number of the transaction, its latency in microseconds, the script, and its
// end.
func transactions(t *testing.T, prefix string, from time.Time, during time.Duration) (all latencies) {
	files, err := filepath.Glob(prefix + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("pgbench has left no log: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var client, number, latency, script, seconds, microseconds int64
			if n, _ := fmt.Sscan(line, &client, &number, &latency, &script, &seconds, &microseconds); n < 6 {
				continue // a line cut off at the end
			}
			if since := time.Unix(seconds, microseconds*1000).Sub(from); since >= 0 && since < during {
				all = append(all, time.Duration(latency)*time.Microsecond)
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestPgbench checks that a concurrency bound found from the latency is as good as one set
// by hand.
func TestPgbench(t *testing.T) {
	s := dbtest.Postgres(t)
	db := newBank(t, s)
	source := func(t *testing.T) load.Source { return &sqlload.Postgres{DB: dbtest.OpenPostgres(t, s, "weir")} }
	medians := compareOnWaits(t, true, db.storm, source)
	atLeast(t, medians, "writes/s", byDefault, 1, unthrottled)
	atMost(t, medians, "with wait p99", byDefault, 0.5, unthrottled)
	atMost(t, medians, "read p99", byDefault, 1.15, unthrottled)
}
