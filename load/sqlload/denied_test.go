package sqlload_test

import (
	"errors"
	"testing"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
)

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

// Readers take no locks of rows, so those who wait for one are no reason to hold reads back.
func TestPostgresLocksConcernWrites(t *testing.T) {
	s := &server{}
	s.answer(int64(20), int64(20), int64(4), int64(4), int64(0))
	sample, err := (&sqlload.Postgres{DB: s.open(t, 1)}).Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sample.Readings {
		want := load.All
		if r.Name == "waiting for a lock" {
			want = load.Writes
		}
		if r.Scope != want {
			t.Errorf("%s concerns %v, want %v", r.Name, r.Scope, want)
		}
	}
}
