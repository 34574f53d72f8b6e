package pgfleet_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/pgfleet"
)

// TestFleet of internal/dbtest runs the store on a real server.
func TestConfig(t *testing.T) {
	for want, c := range map[string]pgfleet.Config{
		`Fleet is ""`: {},
		"Poll is 1ms": {Fleet: "search", Poll: time.Millisecond},
		"Poll is 1m":  {Fleet: "search", Poll: time.Minute},
	} {
		if _, err := pgfleet.New(t.Context(), nil, c); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A watch ends when a server does not answer, so that a member can begin it anew.
func TestServerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(hanging{})
		defer db.Close()
		store, err := pgfleet.New(t.Context(), db, pgfleet.Config{Fleet: "search", ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err = store.Watch(t.Context(), "", func(fleet.Entry) {})
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
