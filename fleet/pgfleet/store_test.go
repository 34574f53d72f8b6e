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
		`Fleet is ""`:     {},
		`Fleet is "\xff"`: {Fleet: "\xff"},
		`Fleet is "\x00"`: {Fleet: "\x00"},
		"Refresh is 1ms":  {Fleet: "search", Refresh: time.Millisecond},
		"Refresh is 1h":   {Fleet: "search", Refresh: time.Hour},
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
			s := &server{}
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
			defer stop()
			if err := s.watch(t, ctx, refresh); !errors.Is(err, context.DeadlineExceeded) || s.reads != want {
				t.Errorf("%v, and %d reads in 10 s of a refresh of %v: want %d", err, s.reads, refresh, want)
			}
		})
	}
}

// A watch ends when a server does not answer, so that a member can begin it anew.
func TestServerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := (&server{hangs: true}).watch(t, t.Context(), 0)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Second {
			t.Errorf("%v after %v, want the end of the time after 5 s", err, took)
		}
	})
}

// A server has no rows, or does not answer.
type server struct {
	driver.Conn
	hangs bool
	reads int
}

// watch watches until ctx or the watch ends.
func (s *server) watch(t *testing.T, ctx context.Context, refresh time.Duration) error {
	db := sql.OpenDB(s)
	defer db.Close()
	store := must.Have(pgfleet.New(ctx, db, pgfleet.Config{Fleet: "search", Refresh: refresh, ReadOnly: true}))(t)
	return store.Watch(ctx, "", func(fleet.Entry) {})
}

func (s *server) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (*server) Driver() driver.Driver                          { return nil }
func (*server) Close() error                                   { return nil }
func (*server) Columns() []string                              { return nil }
func (*server) Next([]driver.Value) error                      { return io.EOF }

func (s *server) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	if s.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.reads++
	return s, nil
}
