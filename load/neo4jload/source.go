package neo4jload

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/weir-go/weir/load"
)

// A Source measures one server. It is a [load.Source]. Make one with [New] and close it.
type Source struct {
	conf   Config
	driver neo4j.DriverWithContext
	mark   string // marks the source's own transactions and its connection

	busy    chan struct{} // full while Poll is at work: the driver may not be closed meanwhile
	checked time.Time     // when the user's privilege was last found; only Poll uses it
}

// New returns the source of a server, or an error that matches [ErrConfig]. It does not
// connect: Poll does.
func New(c Config) (*Source, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	s := &Source{conf: c, busy: make(chan struct{}, 1), mark: "weir-neo4jload/" + rand.Text()}
	s.driver, err = neo4j.NewDriverWithContext(c.URI, c.Auth, func(d *config.Config) {
		if c.Driver != nil {
			c.Driver(d)
		}
		d.UserAgent = s.mark
		d.MaxConnectionPoolSize = 1
	})
	if err != nil {
		return nil, fmt.Errorf("%w: URI is %q: %w", ErrConfig, c.URI, err)
	}
	return s, nil
}

// Close closes the connection, once a Poll that is under way has returned. If ctx ends before that,
// Close returns its error, and the connection stays open.
func (s *Source) Close(ctx context.Context) error {
	ctx = cmp.Or(ctx, context.Background())
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
		return s.driver.Close(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Name implements [load.Source].
func (*Source) Name() string { return "neo4j" }

// showTransactions leaves out the transactions that carry the mark $self. The status of one that
// waits for a lock is "Blocked by: [...]". waitTime is
// not reset when the wait ends, so it counts only for blocked transactions.
const showTransactions = `
SHOW TRANSACTIONS
YIELD status, elapsedTime, waitTime, pageFaults, metaData
WHERE coalesce(metaData.weir, '') <> $self
RETURN
	sum(CASE WHEN status STARTS WITH 'Blocked' THEN 1 ELSE 0 END) AS blocked,
	sum(CASE WHEN status STARTS WITH 'Blocked' THEN 0 ELSE 1 END) AS running,
	max(CASE WHEN status STARTS WITH 'Blocked' THEN waitTime.milliseconds ELSE 0 END) AS wait,
	max(elapsedTime.milliseconds) AS oldest,
	sum(pageFaults) AS pageFaults`

// listConnections has no WHERE, which the system database does not take from a CALL.
const listConnections = `
CALL dbms.listConnections() YIELD userAgent
RETURN sum(CASE WHEN userAgent = $self THEN 0 ELSE 1 END) AS connections`

// Poll implements [load.Source]. A nil ctx counts as context.Background.
func (s *Source) Poll(ctx context.Context) (load.Sample, error) {
	ctx = cmp.Or(ctx, context.Background())
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return load.Sample{}, ctx.Err()
	}
	session := s.driver.NewSession(ctx, neo4j.SessionConfig{
		AccessMode:   neo4j.AccessModeRead,
		DatabaseName: "system", // it is there, whatever happens to the other databases
	})
	defer session.Close(ctx)

	if err := s.checkPrivilege(ctx, session); err != nil {
		return load.Sample{}, err
	}
	now := time.Now()
	transactions, err := s.ask(ctx, session, showTransactions)
	if err != nil {
		return load.Sample{}, err
	}
	readings := s.readings(transactions)
	connections, err := s.ask(ctx, session, listConnections)
	readings = append(readings, load.Reading{
		Name: "connections", Value: number(connections, "connections"), Limit: float64(s.conf.Connections), Err: err,
	})
	for i := range readings {
		readings[i].At = now
	}
	return load.Sample{Actuator: load.ByConcurrency, Readings: readings}, nil
}

func (s *Source) readings(r *neo4j.Record) []load.Reading {
	return []load.Reading{
		{Name: "running", Value: number(r, "running"), Limit: float64(s.conf.Running)},
		{Name: "blocked", Value: number(r, "blocked"), Limit: float64(s.conf.Blocked), Scope: load.Writes},
		{Name: "longest wait", Value: number(r, "wait") / 1000, Limit: s.conf.Wait.Seconds(), Unit: load.Seconds, Scope: load.Writes},
		{Name: "oldest", Value: number(r, "oldest") / 1000, Limit: math.Inf(1), Unit: load.Seconds}, // no limit: imports run for long
		{Name: "page faults", Value: number(r, "pageFaults"), Limit: math.Inf(1)},
	}
}

// ask runs a query that answers with one record.
func (s *Source) ask(ctx context.Context, session neo4j.SessionWithContext, query string) (*neo4j.Record, error) {
	records, err := s.collect(ctx, session, query)
	if err != nil {
		return nil, err
	}
	if len(records) != 1 {
		return nil, fmt.Errorf("neo4jload: %d records: want 1", len(records))
	}
	return records[0], nil
}

func (s *Source) collect(ctx context.Context, session neo4j.SessionWithContext, query string) ([]*neo4j.Record, error) {
	self := map[string]any{"self": s.mark}
	result, err := session.Run(ctx, query, self, neo4j.WithTxMetadata(map[string]any{"weir": s.mark}))
	if err != nil {
		return nil, explain(err)
	}
	records, err := result.Collect(ctx)
	if err != nil {
		return nil, explain(err)
	}
	return records, nil
}

// number returns the number in a column, 0 if it has no number: the maximum of no rows is null.
func number(r *neo4j.Record, column string) float64 {
	if r == nil {
		return 0
	}
	value, _ := r.Get(column)
	n, _ := value.(int64)
	return float64(n)
}
