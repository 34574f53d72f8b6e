package pgfleet_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/pgfleet"
	"github.com/weir-go/weir/internal/must"
)

// TestFleet of internal/dbtest runs the store on a real server.
func TestConfig(t *testing.T) {
	for want, c := range map[string]pgfleet.Config{
		`Fleet is ""`:    {},
		"Refresh is 1ms": {Fleet: "search", Refresh: time.Millisecond},
		"Refresh is 1h":  {Fleet: "search", Refresh: time.Hour},
	} {
		if _, err := pgfleet.New(t.Context(), nil, c); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A watch reads four times in a refresh.
func TestPolls(t *testing.T) {
	for refresh, want := range map[time.Duration]int{0: 41, 200 * time.Millisecond: 201, time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			server := &empty{}
			db := sql.OpenDB(server)
			defer db.Close()
			store := must.Have(pgfleet.New(t.Context(), db, pgfleet.Config{Fleet: "search", Refresh: refresh, ReadOnly: true}))(t)
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
			defer stop()
			if err := store.Watch(ctx, "", func(fleet.Entry) {}); !errors.Is(err, context.DeadlineExceeded) || server.reads != want {
				t.Errorf("%v, and %d reads in 10 s of a refresh of %v: want %d", err, server.reads, refresh, want)
			}
		})
	}
}

// empty is a server without rows.
type empty struct {
	driver.Conn
	reads int
}

func (e *empty) Connect(context.Context) (driver.Conn, error) { return e, nil }
func (*empty) Driver() driver.Driver                          { return nil }
func (*empty) Close() error                                   { return nil }
func (*empty) Columns() []string                              { return nil }
func (*empty) Next([]driver.Value) error                      { return io.EOF }

func (e *empty) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	e.reads++
	return e, nil
}

// A watch ends when a server does not answer, so that a member can begin it anew.
func TestServerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(hanging{})
		defer db.Close()
		store := must.Have(pgfleet.New(t.Context(), db, pgfleet.Config{Fleet: "search", ReadOnly: true}))(t)
		began := time.Now()
		err := store.Watch(t.Context(), "", func(fleet.Entry) {})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Second {
			t.Errorf("%v after %v, want the end of the time after 5 s", err, took)
		}
	})
}

// hanging is a server whose connections answer nothing.
type hanging struct{ driver.Conn }

func (h hanging) Connect(context.Context) (driver.Conn, error) { return h, nil }
func (hanging) Driver() driver.Driver                          { return nil }
func (hanging) Close() error                                   { return nil }

func (hanging) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
