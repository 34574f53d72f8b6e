package sqlload

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/weir-go/weir/load"
)

// Pool is how long callers wait for a connection of a pool, and how many of its
// connections are in use. It asks the pool's statistics, not the database. A Pool
// serves one monitor.
type Pool struct {
	DB *sql.DB // the pool that the application uses. Required

	// MaxWait is the mean wait for a connection, of those who had to wait since the
	// last poll, at which the pool is at its limit. Defaults to 100 ms.
	MaxWait time.Duration

	// Title is the name of the source, for programs with several pools. Defaults
	// to "sql pool".
	Title string

	waits  int64
	waited time.Duration
	seen   bool
}

const defaultMaxWait = 100 * time.Millisecond

// Name returns the Title.
func (p *Pool) Name() string {
	if p.Title != "" {
		return p.Title
	}
	return "sql pool"
}

var errNoDB = errors.New("sqlload: DB is nil: want a pool")

// Poll implements [load.Source].
func (p *Pool) Poll(context.Context) (load.Sample, error) {
	if p.DB == nil {
		return load.Sample{}, errNoDB
	}
	s := p.DB.Stats()
	most := p.MaxWait
	if most <= 0 {
		most = defaultMaxWait
	}
	readings := []load.Reading{{
		Name: "wait for a connection", Value: p.wait(s).Seconds(),
		Unit: load.Seconds, Limit: most.Seconds(),
	}}
	if s.MaxOpenConnections > 0 {
		readings = append(readings, inUse(s))
	}
	return load.Sample{Readings: readings}, nil
}

// busy is the load of a pool whose connections are all in use while nobody waits
// for one: it works as hard as it may, but nothing is wrong. The setpoint of a throttle
// is above it.
const busy = 0.8

func inUse(s sql.DBStats) load.Reading {
	return load.Reading{
		Name: "connections in use", Value: float64(s.InUse),
		Limit: float64(s.MaxOpenConnections) / busy,
	}
}

// wait is the mean wait of those who had to since the last poll.
func (p *Pool) wait(s sql.DBStats) time.Duration {
	waits, waited := s.WaitCount-p.waits, s.WaitDuration-p.waited
	known := p.seen
	p.waits, p.waited, p.seen = s.WaitCount, s.WaitDuration, true
	if !known || waits <= 0 || waited <= 0 {
		return 0
	}
	return waited / time.Duration(waits)
}
