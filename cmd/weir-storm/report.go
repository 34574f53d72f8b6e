package main

import (
	"fmt"
	"io"
	"time"

	"github.com/weir-go/weir/internal/figures"
	"github.com/weir-go/weir/throttle"
)

// printer writes for a terminal of 110 columns.
type printer struct {
	io.Writer
	color bool
}

func (p printer) bold(text string) string {
	if !p.color {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

func (p printer) introduce(each time.Duration) {
	fmt.Fprintf(p, `%d writers write documents of %d KiB to random keys of a Badger store, as fast as it lets them, for %v.
Then again in a fresh store, behind a throttle that paces writes at what the store really digests.

Writes go to a memtable, then to a table of level 0, and a compaction takes the tables of level 0
away. When there are too many the store stops all writes until one has ended: the stall.

`, writers, documentSize>>10, each)
}

// A row is what became of one storm.
type row struct {
	name               string
	writes             float64 // per second
	database, withWait [2]time.Duration
	stalled            float64 // share of the samples
	refused            int
	fault              error
}

// sampled is how often level 0 is looked at.
const sampled = 20 * time.Millisecond

// watch prints a line each second until the storm is over, and sums it up.
func (p printer) watch(name string, c *crowd, done <-chan struct{}) row {
	fmt.Fprintln(p, p.bold(fmt.Sprintf("%-12s %9s %13s %13s %9s %8s %8s", name, "writes/s", "database p99", "with wait p99", "level 0", "pace/s", "refused")))
	begin := time.Now()
	second, sample := time.NewTicker(time.Second), time.NewTicker(sampled)
	defer second.Stop()
	defer sample.Stop()
	stall := c.db.Opts().NumLevelZeroTablesStall
	written, samples, full := 0, 0, 0
	for {
		select {
		case <-done:
			r := c.sum(name, time.Since(begin))
			r.stalled = float64(full) / float64(max(samples, 1))
			fmt.Fprintln(p)
			return r
		case <-sample.C:
			samples++
			if c.db.Levels()[0].NumTables >= stall {
				full++
			}
		case now := <-second.C:
			database, withWait := c.since(written)
			written += len(database)
			fmt.Fprintf(p, "%10.0f s %9d %13s %13s %5d/%d %8s %8d\n", now.Sub(begin).Seconds(), len(database),
				figures.Latency(quantile(database, 99)), figures.Latency(quantile(withWait, 99)),
				c.db.Levels()[0].NumTables, stall, pace(c.throttle), c.refusals())
		}
	}
}

func (c *crowd) refusals() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

func pace(th *throttle.Throttle) string {
	if rate := th.Snapshot().Writes.Pace.Rate; rate > 0 {
		return fmt.Sprintf("%.0f", rate)
	}
	return "-"
}

// sum is the row of a storm, without what only watching it tells.
func (c *crowd) sum(name string, ran time.Duration) row {
	database, withWait := c.since(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	return row{
		name:     name,
		writes:   float64(len(database)) / ran.Seconds(),
		database: [2]time.Duration{quantile(database, 50), quantile(database, 99)},
		withWait: [2]time.Duration{quantile(withWait, 50), quantile(withWait, 99)},
		refused:  c.refused,
		fault:    c.fault,
	}
}

func (p printer) compare(rows []row) {
	fmt.Fprintln(p, p.bold(fmt.Sprintf("%-12s %9s %13s %9s %14s %9s %14s %8s", "",
		"writes/s", "database p50", "p99", "with wait p50", "p99", "at the stall", "refused")))
	for _, r := range rows {
		fmt.Fprintf(p, "%-12s %9.0f %13s %9s %14s %9s %13.0f%% %8d\n", r.name, r.writes,
			figures.Latency(r.database[0]), figures.Latency(r.database[1]),
			figures.Latency(r.withWait[0]), figures.Latency(r.withWait[1]), 100*r.stalled, r.refused)
		if r.fault != nil {
			fmt.Fprintf(p, "             a write failed: %v\n", r.fault)
		}
	}
}
