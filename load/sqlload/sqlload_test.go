package sqlload_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
)

func loads(t *testing.T, s load.Source) map[string]float64 {
	t.Helper()
	sample, err := s.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	loads := map[string]float64{}
	for _, r := range sample.Readings {
		loads[r.Name] = r.Load()
	}
	return loads
}

func TestPoolWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(server).open(t, 1)
		defer db.Close()
		p := &sqlload.ConnPool{DB: db, MaxWait: time.Second}
		if got := loads(t, p); got["wait for a connection"] != 0 || got["connections in use"] != 0 {
			t.Errorf("at rest: %v", got)
		}
		held, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := loads(t, p); got["connections in use"] != 0.8 {
			t.Errorf("all in use: %v", got)
		}
		go func() {
			if c, err := db.Conn(t.Context()); err == nil {
				c.Close()
			}
		}()
		time.Sleep(2 * time.Second)
		held.Close()
		synctest.Wait()
		if got := loads(t, p); got["wait for a connection"] != 2 {
			t.Errorf("one waited for 2 s: %v", got)
		}
		if got := loads(t, p); got["wait for a connection"] != 0 {
			t.Errorf("no connection since: %v", got)
		}
	})
}

func TestPostgres(t *testing.T) {
	s := &server{}
	s.answer(int64(20), int64(20), int64(4), int64(4), int64(0))
	p := &sqlload.Postgres{DB: s.open(t, 1)}
	got := loads(t, p)
	for name, want := range map[string]float64{
		"active sessions": 0, "waiting for a lock": 5, "waiting for the disk": 0.25, "waiting for the server": 0.25,
	} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if got := loads(t, &sqlload.Postgres{DB: s.open(t, 1), MaxActive: 10}); got["active sessions"] != 2 {
		t.Errorf("20 active sessions of 10: %v", got)
	}
}

func TestPostgresLeavesItsOwnSessionOut(t *testing.T) {
	s := &server{}
	s.answer(int64(0), int64(0), int64(0), int64(0), int64(0))
	loads(t, &sqlload.Postgres{DB: s.open(t, 1)})
	if q := s.queries[0]; !strings.Contains(q, "pid <> pg_backend_pid()") {
		t.Errorf("its own session is counted by %s", q)
	}
}

// The pool of the application has no connection left; the monitor has its own.
func TestPostgresKeepsItsConnection(t *testing.T) {
	s := &server{}
	s.answer(int64(0), int64(0), int64(0), int64(0), int64(0))
	app := s.open(t, 1)
	held, err := app.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	s := &server{}
	good := func() { s.answer(int64(1), int64(5), int64(0), int64(0), int64(0)) }
	p := &sqlload.Postgres{DB: s.open(t, 1)}
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
}

func TestPostgresClose(t *testing.T) {
	s := &server{}
	s.answer(int64(1), int64(0), int64(0), int64(0), int64(0))
	p := &sqlload.Postgres{DB: s.open(t, 1)}
	for range 2 { // it polls again after having been closed
		loads(t, p)
		if n := p.DB.Stats().InUse; n != 1 {
			t.Errorf("%d connections in use, want the one that is kept", n)
		}
		if err := errors.Join(p.Close(), p.Close()); err != nil || p.DB.Stats().InUse != 0 {
			t.Errorf("closed: %v, %d in use", err, p.DB.Stats().InUse)
		}
	}
}

// A poll that a monitor left behind neither holds Close up nor keeps its connection.
func TestPostgresCloseWhileAPollHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{held: make(chan struct{})}
		s.answer(int64(1), int64(0), int64(0), int64(0), int64(0))
		db := s.open(t, 1)
		defer db.Close()
		p := &sqlload.Postgres{DB: db}
		polled, closed := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := p.Poll(t.Context())
			polled <- err
		}()
		synctest.Wait()
		go func() { closed <- p.Close() }()
		synctest.Wait()
		if len(closed) == 0 {
			t.Error("Close waits for the poll")
		}
		close(s.held)
		if err := errors.Join(<-closed, <-polled); err != nil || db.Stats().InUse != 0 {
			t.Errorf("%v, %d connections in use", err, db.Stats().InUse)
		}
	})
}

var errGone = errors.New("the server closed the connection unexpectedly")

func TestWithoutDB(t *testing.T) {
	for _, s := range []load.Source{&sqlload.ConnPool{}, &sqlload.Postgres{}} {
		if _, err := s.Poll(t.Context()); err == nil {
			t.Errorf("%T without a DB", s)
		}
	}
}

func ExamplePool() {
	db := new(server).open(new(testing.T), 10)
	mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: &sqlload.ConnPool{DB: db, MaxWait: 50 * time.Millisecond}}}})
	fmt.Println(mon != nil, err)
	// Output: true <nil>
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

// A wait that outlasts many polls shows while it lasts, and whole when it ends.
func TestPoolThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(server).open(t, 1)
		defer db.Close()
		p := &sqlload.ConnPool{DB: db, MaxWait: time.Second}
		held, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		loads(t, p)
		go func() {
			if c, err := db.Conn(t.Context()); err == nil {
				c.Close()
			}
		}()
		for second := range 10 {
			synctest.Wait()
			if got := loads(t, p)["wait for a connection"]; got != float64(second) {
				t.Errorf("%d s of waiting: %v", second, got)
			}
			time.Sleep(time.Second)
		}
		held.Close()
		synctest.Wait()
		if got := loads(t, p)["wait for a connection"]; got != 10 {
			t.Errorf("one waited for 10 s: %v", got)
		}
		if got := loads(t, p)["wait for a connection"]; got != 0 {
			t.Errorf("no connection since: %v", got)
		}
	})
}

// A hundred that began together and end one by one each waited no longer than the pool was full.
func TestPoolWaitOfABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(server).open(t, 1)
		defer db.Close()
		p := &sqlload.ConnPool{DB: db, MaxWait: time.Second}
		loads(t, p)
		for range 100 {
			go func() {
				if c, err := db.Conn(t.Context()); err == nil {
					time.Sleep(100 * time.Millisecond)
					c.Close()
				}
			}()
		}
		for second := 1; second <= 9; second++ {
			time.Sleep(time.Second)
			if got := loads(t, p)["wait for a connection"]; got > float64(second) {
				t.Errorf("after %d s of waiting: %v", second, got)
			}
		}
		time.Sleep(10 * time.Second)
	})
}
