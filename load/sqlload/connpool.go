package sqlload

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/weir-go/weir/load"
)

// ConnPool measures how long callers wait for a connection of a pool, also while no connection
// comes free, and the number of its connections in use. It reads the statistics of the pool and
// does not ask the database. A ConnPool serves one monitor.
type ConnPool struct {
	DB *sql.DB // the pool that the application uses. Required

	// MaxWait is the mean wait for a connection at which the pool is at its limit. The mean is over
	// the waits that ended since the last poll. Defaults to 100 ms.
	MaxWait time.Duration

	seen   bool
	waits  int64         // all that have begun
	waited time.Duration // the sum of the waits that have ended
	open   int64         // waits that began since the last end of a wait
	since  time.Time     // of the poll that saw the first of them
	free   time.Time     // when a poll last saw a free connection
}

const defaultMaxWait = 100 * time.Millisecond

// Name returns "sql pool".
func (*ConnPool) Name() string { return "sql pool" }

// Check implements [load.Checker].
func (p *ConnPool) Check() error {
	if p.MaxWait < 0 {
		return fmt.Errorf("ConnPool.MaxWait is %v: want 0 (the default) or more", p.MaxWait)
	}
	return needed("ConnPool.DB", p.DB)
}

func needed(field string, db *sql.DB) error {
	if db == nil {
		return fmt.Errorf("%s is nil: want a pool", field)
	}
	return nil
}

// Poll implements [load.Source].
func (p *ConnPool) Poll(context.Context) (load.Sample, error) {
	s := p.DB.Stats()
	most := cmp.Or(p.MaxWait, defaultMaxWait)
	readings := []load.Reading{{
		Name: "wait for a connection", Value: p.wait(s).Seconds(),
		Unit: load.Seconds, Limit: most.Seconds(),
	}}
	if s.MaxOpenConnections > 0 {
		readings = append(readings, inUse(s))
	}
	return load.Sample{Actuator: load.ByConcurrency, Readings: readings}, nil
}

// busy is the load of a pool whose connections are all in use while no request waits for a
// connection: the pool works as hard as it may, but nothing is wrong. The setpoint of a throttle is
// above it.
const busy = 0.8

func inUse(s sql.DBStats) load.Reading {
	return load.Reading{
		Name: "connections in use", Value: float64(s.InUse),
		Limit: float64(s.MaxOpenConnections) / busy,
	}
}

// wait returns the mean of the waits that ended since the last poll. While a pool hangs no wait
// ends: then it returns the least time since the first open wait began. The statistics count a wait
// when it begins, and its time when it ends. If many waits began in earlier polls, the quotient is
// too large, but no wait is longer than the time without a free connection.
func (p *ConnPool) wait(s sql.DBStats) time.Duration {
	now := time.Now()
	began, waited, known := s.WaitCount-p.waits, s.WaitDuration-p.waited, p.seen
	p.waits, p.waited, p.seen = s.WaitCount, s.WaitDuration, true
	busy := now.Sub(p.free)
	if !known || s.InUse < s.MaxOpenConnections {
		p.free = now
	}
	if !known {
		return 0
	}
	if p.open == 0 {
		p.since = now
	}
	p.open += began
	switch {
	case waited > 0:
		mean := waited / time.Duration(max(p.open, 1))
		p.open = 0
		return min(mean, busy)
	case p.open > 0:
		return now.Sub(p.since)
	}
	return 0
}
