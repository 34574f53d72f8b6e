package sqlload_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
)

func TestPostgres(t *testing.T) {
	s := &server{}
	s.answer(int64(20), int64(20), int64(4), int64(4), int64(0))
	p := &sqlload.Postgres{DB: s.open(t, 1)}
	got := loads(t, p)
	if q := s.queries[0]; !strings.Contains(q, "pid <> pg_backend_pid()") {
		t.Errorf("its own session is counted by %s", q)
	}
	for name, want := range map[string]float64{
		"active sessions": 0, "waiting for a lock": 5, "waiting for the disk": 0.25, "waiting for the server": 0.25,
	} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	// Readers take no locks of rows, so those who wait for one are no reason to hold reads back.
	for _, r := range must.Have(p.Poll(t.Context()))(t).Readings {
		if writes := r.Name == "waiting for a lock"; writes != (r.Scope == load.Writes) {
			t.Errorf("%s concerns %v", r.Name, r.Scope)
		}
	}
}

// The pool of the application has no connection left; the monitor has its own.
func TestPostgresKeepsItsConnection(t *testing.T) {
	s := &server{}
	s.answer(int64(0), int64(0), int64(0), int64(0), int64(0))
	app := s.open(t, 1)
	held := must.Have(app.Conn(t.Context()))(t)
	defer held.Close()

	p := &sqlload.Postgres{DB: s.open(t, 1)}
	for range 10 {
		loads(t, p)
	}
	if s.opened != 2 {
		t.Errorf("%d connections opened, want the application's and one", s.opened)
	}
	shared := &sqlload.Postgres{DB: app}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := shared.Poll(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("on the application's pool: %v, want that it has to wait", err)
	}
}

func TestPostgresRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		good := func() { s.answer(int64(1), int64(5), int64(0), int64(0), int64(0)) }
		p := &sqlload.Postgres{DB: s.open(t, 1)}
		defer p.DB.Close()
		for name, c := range map[string]struct {
			broken func()
			want   error
		}{
			"hangs":     {func() { s.hang = true }, context.DeadlineExceeded},
			"restarts":  {func() { s.fail(errGone) }, errGone},
			"privilege": {func() { s.answer(int64(0), int64(0), int64(0), int64(0), int64(3)) }, sqlload.ErrPrivilege},
		} {
			good()
			loads(t, p)
			c.broken()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := p.Poll(ctx); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
			good()
			if got := loads(t, p); got["waiting for a lock"] != 1.25 {
				t.Errorf("%s: afterwards %v", name, got)
			}
		}
	})
}

var errGone = errors.New("the server closed the connection unexpectedly")

func TestSettingsAreChecked(t *testing.T) {
	for want, s := range map[string]load.Source{
		"Sources[0]: ConnPool.DB is nil":        &sqlload.ConnPool{},
		"Sources[0]: ConnPool.MaxWait is -1ns:": &sqlload.ConnPool{DB: new(server).open(t, 1), MaxWait: -1},
		"Sources[0]: Postgres.DB is nil":        &sqlload.Postgres{},
	} {
		if _, err := load.New(load.Config{Sources: []load.Source{s}}); !errors.Is(err, load.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func ExamplePostgres() {
	s := &server{}
	s.answer(int64(12), int64(6), int64(0), int64(1), int64(0)) // a hot row
	source := &sqlload.Postgres{DB: s.open(new(testing.T), 1)}
	sample, err := source.Poll(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range sample.Readings {
		fmt.Println(r)
	}
	// Output:
	// active sessions 12
	// waiting for a lock 6 of 4
	// waiting for the disk 0 of 16
	// waiting for the server 1 of 16
}

// A stateError is an error of a driver, with its code: pgx and lib/pq have the method.
type stateError string

func (s stateError) Error() string    { return "server: " + string(s) }
func (s stateError) SQLState() string { return string(s) }

// Poll says which errors will not go away by asking again soon.
func TestPostgresDenied(t *testing.T) {
	s := &server{}
	p := &sqlload.Postgres{DB: s.open(t, 1)}
	for code, denied := range map[stateError]bool{
		"28P01": true, // wrong password
		"28000": true, // no such user
		"42501": true, // insufficient privilege
		"57P03": false, "53300": false, "": false,
	} {
		s.fail(code)
		if _, err := p.Poll(t.Context()); errors.Is(err, load.ErrDenied) != denied || !errors.Is(err, code) {
			t.Errorf("%s: %v: denied is not %v", string(code), err, denied)
		}
	}
	s.answer(int64(0), int64(0), int64(0), int64(0), int64(3))
	if _, err := p.Poll(t.Context()); !errors.Is(err, load.ErrDenied) || !errors.Is(err, sqlload.ErrPrivilege) {
		t.Errorf("hidden sessions: %v", err)
	}
}
