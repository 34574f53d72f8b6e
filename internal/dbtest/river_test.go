package dbtest

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet/pgfleet"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirriver"
)

// TestRiver runs jobs of River from PostgreSQL through limiters. It is one test with parts,
// because a server takes seconds to start.
func TestRiver(t *testing.T) {
	t.Parallel()
	s := Postgres(t)
	pool := must.Have(pgxpool.New(t.Context(), postgresURL(s.Address(), "weir")))(t)
	t.Cleanup(pool.Close)
	migrator := must.Have(rivermigrate.New(riverpgxv5.New(pool), nil))(t)
	must.Have(migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil))(t)
	t.Run("jobs wait in the limiter's queue", func(t *testing.T) { riverWaits(t, pool) })
	t.Run("refused jobs come back and no attempt is used up", func(t *testing.T) { riverSnoozes(t, pool) })
	t.Run("waiting jobs go back when the client stops", func(t *testing.T) { riverStops(t, pool) })
	t.Run("two clients share a cap", func(t *testing.T) { riverFleet(t, s, pool) })
}

// riverArgs are the arguments of a job.
type riverArgs struct{ N int }

// Kind implements [river.JobArgs].
func (riverArgs) Kind() string { return "work" }

// riverClient works the jobs of one queue until the test ends.
type riverClient struct {
	*river.Client[pgx.Tx]

	queue string
	ended <-chan *river.Event // one for each time that a job ran, or was refused
}

func startRiver(t *testing.T, pool *pgxpool.Pool, queue string, lim *weir.Limiter, work func(context.Context, int) error) *riverClient {
	t.Helper()
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[riverArgs]) error { return work(ctx, job.Args.N) }))
	client := must.Have(river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues:            map[string]river.QueueConfig{queue: {MaxWorkers: 20}},
		Workers:           workers,
		Middleware:        []rivertype.Middleware{&weirriver.Middleware{Admitter: weirriver.One(lim)}},
		Logger:            slog.New(slog.DiscardHandler),
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: 10 * time.Millisecond,
	}))(t)
	ended, cancel := client.Subscribe(river.EventKindJobCompleted, river.EventKindJobFailed, river.EventKindJobCancelled,
		river.EventKindJobSnoozed, river.EventKindJobInterrupted)
	t.Cleanup(cancel)
	must.Do(t, client.Start(context.Background()))
	t.Cleanup(func() { _ = client.StopAndCancel(context.Background()) })
	return &riverClient{client, queue, ended}
}

// insert adds n jobs that run at most once without an error.
func (c *riverClient) insert(t *testing.T, n int) {
	t.Helper()
	jobs := make([]river.InsertManyParams, n)
	for i := range jobs {
		jobs[i] = river.InsertManyParams{Args: riverArgs{i}, InsertOpts: &river.InsertOpts{Queue: c.queue, MaxAttempts: 1}}
	}
	must.Have(c.InsertMany(t.Context(), jobs))(t)
}

// await returns the jobs of the next n events of the kind, and the number of earlier events
// of other kinds.
func (c *riverClient) await(t *testing.T, kind river.EventKind, n int) (jobs []*rivertype.JobRow, others int) {
	t.Helper()
	late := time.After(patience)
	for len(jobs) < n {
		select {
		case e := <-c.ended:
			if e.Kind != kind {
				others++
				continue
			}
			jobs = append(jobs, e.Job)
		case <-late:
			t.Fatalf("%d jobs with %s, want %d", len(jobs), kind, n)
		}
	}
	return jobs, others
}

func riverLimiter(limit int, queue weir.Queue) *weir.Limiter {
	return weir.Must(weir.New(weir.Config{Name: "work", Law: law.Fixed{Limit: limit}, Queue: queue}))
}

func riverWaits(t *testing.T, pool *pgxpool.Pool) {
	lim := riverLimiter(3, weir.Queue{Size: 20, Timeout: patience})
	var running, most atomic.Int32
	c := startRiver(t, pool, "waits", lim, func(context.Context, int) error {
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		runtime.Gosched()
		return nil
	})
	c.insert(t, 200)
	if _, others := c.await(t, river.EventKindJobCompleted, 200); others != 0 {
		t.Errorf("%d jobs ended otherwise", others)
	}
	if s := lim.Snapshot(); most.Load() > 3 || s.Succeeded != 200 || s.InFlight != 0 || len(s.Refused) != 0 {
		t.Errorf("up to %d at once, %d succeeded, %d in flight, refused %v", most.Load(), s.Succeeded, s.InFlight, s.Refused)
	}
}

// riverSnoozes makes one job hold the only slot until another was refused.
func riverSnoozes(t *testing.T, pool *pgxpool.Pool) {
	lim := riverLimiter(1, weir.Queue{})
	turnedAway := make(chan struct{})
	c := startRiver(t, pool, "snoozes", lim, func(context.Context, int) error { <-turnedAway; return nil })
	c.insert(t, 5)
	snoozed, others := c.await(t, river.EventKindJobSnoozed, 4)
	if others != 0 {
		t.Errorf("%d jobs ended before", others)
	}
	for _, job := range snoozed {
		if job.Attempt != 0 || !job.ScheduledAt.After(job.CreatedAt) {
			t.Errorf("a snoozed job has %d attempts, and is scheduled for %v", job.Attempt, job.ScheduledAt)
		}
	}
	close(turnedAway)
	jobs, _ := c.await(t, river.EventKindJobCompleted, 5)
	for _, job := range jobs {
		if job.Attempt != 1 || len(job.Errors) != 0 {
			t.Errorf("a job took %d attempts, with errors %v", job.Attempt, job.Errors)
		}
	}
	if s := lim.Snapshot(); s.Succeeded != 5 || s.Failed != 0 || s.InFlight != 0 || s.Refused[weir.ReasonLimitReached] < 4 {
		t.Errorf("%d succeeded, %d failed, %d in flight, refused %v", s.Succeeded, s.Failed, s.InFlight, s.Refused)
	}
}

// riverStops has only waiting jobs, because other work has the only slot.
func riverStops(t *testing.T, pool *pgxpool.Pool) {
	lim := riverLimiter(1, weir.Queue{Size: 20, Timeout: patience})
	permit := must.Have(lim.Acquire(t.Context()))(t)
	c := startRiver(t, pool, "stops", lim, func(context.Context, int) error { return errors.New("a job ran") })
	c.insert(t, 5)
	for lim.Snapshot().Queued < 5 {
		runtime.Gosched()
	}
	must.Do(t, c.StopAndCancel(t.Context()))
	jobs, others := c.await(t, river.EventKindJobInterrupted, 5)
	for _, job := range jobs {
		if job.State != rivertype.JobStateAvailable || job.Attempt != 0 {
			t.Errorf("a job that waited is %s after %d attempts", job.State, job.Attempt)
		}
	}
	permit.Release()
	// A client that stops may fetch a job again that went back.
	if s := lim.Snapshot(); others != 0 || s.Cancelled < 5 || s.InFlight != 0 || s.Queued != 0 {
		t.Errorf("%d jobs ended otherwise, %d cancelled, %d in flight, %d queued", others, s.Cancelled, s.InFlight, s.Queued)
	}
}

// riverFleet has two processes work one queue of River, with a cap for both that they lease from
// each other in River's own database.
func riverFleet(t *testing.T, s *Server, pool *pgxpool.Pool) {
	const slots, jobs = 6, 400
	store := must.Have(pgfleet.New(t.Context(), OpenPostgres(t, s, "weir"), pgfleet.Config{Fleet: "river", Refresh: 100 * time.Millisecond}))(t)
	var running, most, ended atomic.Int64
	var lims []*weir.Limiter
	var last *riverClient
	for range 2 {
		lim := riverLimiter(100, weir.Queue{Size: 20, Timeout: patience})
		m := joined(t, store, lim, slots)
		lims = append(lims, lim)
		last = startRiver(t, pool, "fleet", lim, func(context.Context, int) error {
			now := running.Add(1)
			defer ended.Add(1)
			defer running.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			<-time.After(10 * time.Millisecond)
			return nil
		})
		t.Cleanup(func() { _ = m.Leave(context.Background()) })
	}
	last.insert(t, jobs)
	must.Happen(t, "all jobs have ended", func() bool { return ended.Load() == jobs })
	if n := most.Load(); n > slots || n < slots/2 {
		t.Errorf("%d jobs at once, of a cap of %d", n, slots)
	}
	for i, lim := range lims {
		if lim.Snapshot().Succeeded == 0 {
			t.Errorf("client %d did no job", i)
		}
	}
	t.Logf("up to %d at once, of a cap of %d", most.Load(), slots)
}
