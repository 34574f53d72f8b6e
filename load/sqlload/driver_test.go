package sqlload_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

// A server is a database that answers every query with one row.
type server struct {
	mu      sync.Mutex
	row     []driver.Value
	err     error
	hang    bool
	opened  int
	queries []string
}

func (s *server) answer(row ...driver.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row, s.err, s.hang = row, nil, false
}

func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *server) Connect(context.Context) (driver.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	return &conn{s}, nil
}

func (s *server) Driver() driver.Driver { return nil }

func (s *server) open(t *testing.T, connections int) *sql.DB {
	db := sql.OpenDB(s)
	db.SetMaxOpenConns(connections)
	t.Cleanup(func() { db.Close() })
	return db
}

type conn struct{ *server }

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not used") }
func (c *conn) Close() error                        { return nil }
func (c *conn) Begin() (driver.Tx, error)           { return nil, errors.New("not used") }

func (c *conn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	c.mu.Lock()
	hang, err := c.hang, c.err
	c.queries = append(c.queries, query)
	c.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &rows{values: c.row}, nil
}

type rows struct{ values []driver.Value }

func (r *rows) Columns() []string { return strings.Split(strings.Repeat("x", len(r.values)), "") }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(into []driver.Value) error {
	if r.values == nil {
		return io.EOF
	}
	copy(into, r.values)
	r.values = nil
	return nil
}
