package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/sqlload"
	"github.com/weir-go/weir/throttle"
)

// TestThrottleOutlivesPostgres runs a throttle before a database that is frozen for seconds,
// or is killed and restarted. Requests meanwhile get an answer, and afterwards the rate
// recovers within seconds.
func TestThrottleOutlivesPostgres(t *testing.T) {
	t.Parallel()
	s := Postgres(t)
	db := OpenPostgres(t, s, "weir")
	db.SetMaxOpenConns(40)
	hold(t, db)()
	mon := must.Have(load.New(load.Config{Sources: []load.Source{&sqlload.Postgres{DB: OpenPostgres(t, s, "weir")}}}))(t)
	th := must.Have(throttle.New(throttle.Config{Monitor: mon, OnEvent: func(e throttle.Event) { t.Log(e) }}))(t)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = mon.Run(ctx) })
	running.Go(func() { _ = th.Run(ctx) })
	w := &writers{db: db, th: th}
	for range 32 {
		running.Go(func() { w.run(ctx) })
	}
	defer func() {
		stop()
		ended := make(chan struct{})
		go func() { running.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("something is stuck")
		}
	}()

	before := w.rate(3 * time.Second)
	if before == 0 {
		t.Fatal("nothing is written")
	}
	for _, fault := range []struct {
		name        string
		begins, end func(testing.TB)
	}{
		{"frozen", s.Freeze, s.Thaw},
		{"killed", s.Kill, s.Restart},
	} {
		fault.begins(t)
		w.rate(4 * time.Second)
		if slowest := time.Duration(w.slowest.Load()); slowest > stuck {
			t.Errorf("%s: an operation took %v, want an answer after %v", fault.name, slowest, answered)
		}
		fault.end(t)
		after := w.rate(3 * time.Second)
		for tries := 0; after < before/4 && tries < 10; tries++ { // the machine may be busy with something else now
			after = w.rate(3 * time.Second)
		}
		t.Logf("%s: %.0f writes a second, before %.0f: %+v, at most %d at once", fault.name, after, before,
			th.Snapshot().Writes.Pace, th.Snapshot().Writes.MaxInFlight)
		if after < before/4 {
			t.Errorf("%s: %.0f writes a second afterwards, before %.0f", fault.name, after, before)
		}
	}
}

const (
	answered = 3 * time.Second  // the time limit of an operation
	stuck    = 15 * time.Second // after it, an operation counts as stuck, even on a busy machine
)

// writers write to one row in a closed loop.
type writers struct {
	db      *sql.DB
	th      *throttle.Throttle
	written atomic.Int64
	slowest atomic.Int64 // of all operations, including refused ones
}

func (w *writers) run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, answered)
		err := w.th.Do(ctx, throttle.Write, 1, func(ctx context.Context) error {
			_, err := w.db.ExecContext(ctx, "UPDATE hot SET n = n + 1 WHERE id = 1")
			return err
		})
		cancel()
		if took := int64(time.Since(began)); took > w.slowest.Load() {
			w.slowest.Store(took)
		}
		if err == nil {
			w.written.Add(1)
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// rate returns the number of writes per second during the given time.
func (w *writers) rate(during time.Duration) float64 {
	before := w.written.Load()
	<-time.After(during)
	return float64(w.written.Load()-before) / during.Seconds()
}

// postgresDenied has a monitor's user that the server does not know.
func postgresDenied(t *testing.T, s *Server) {
	m := watch(t, postgresSource(t, s, "stranger"))
	m.until(t, "denied", func(load.Level) bool { return errors.Is(m.Snapshot()[0].Err, load.ErrDenied) })
	if polls := m.Snapshot()[0].Polls; polls > 2 {
		t.Errorf("asked %d times", polls)
	}
}
