package dbtest

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirriver"
)

// TestRiver has River run jobs from PostgreSQL through limiters. It is one test with parts: a server takes seconds to start.
func TestRiver(t *testing.T) {
	s := Postgres(t)
	pool, err := pgxpool.New(t.Context(), postgresURL(s.Address(), "weir"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil); err != nil {
		t.Fatal(err)
	}
	t.Run("jobs wait in the limiter's queue", func(t *testing.T) { riverWaits(t, pool) })
	t.Run("refused jobs come back and no attempt is used up", func(t *testing.T) { riverSnoozes(t, pool) })
	t.Run("jobs that panic give their slots back", func(t *testing.T) { riverPanics(t, pool) })
	t.Run("kinds do not slow each other", func(t *testing.T) { riverKinds(t, pool) })
	t.Run("waiting jobs go back when the client stops", func(t *testing.T) { riverStops(t, pool) })
}

// riverArgs are those of a job of the kind "work".
type riverArgs struct{ N int }

func (riverArgs) Kind() string { return "work" }

// otherArgs are those of a job of another kind.
type otherArgs struct{}

func (otherArgs) Kind() string { return "other" }

// A riverClient is a client that works until the test ends, or is stopped.
type riverClient struct {
	*river.Client[pgxTx]

	ended <-chan *river.Event // jobs that will not run again, and those that were snoozed
}

// startRiver starts a client with a queue of the test's own.
func startRiver(t *testing.T, pool *pgxpool.Pool, middleware *weirriver.Middleware, work func(context.Context, int) error) *riverClient {
	t.Helper()
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[riverArgs]) error { return work(ctx, job.Args.N) }))
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[otherArgs]) error { return nil }))
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 20}},
		Workers:           workers,
		Middleware:        []rivertype.Middleware{middleware},
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := client.Subscribe(river.EventKindJobCompleted, river.EventKindJobFailed, river.EventKindJobCancelled, river.EventKindJobSnoozed)
	t.Cleanup(cancel)
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.StopAndCancel(context.Background()) })
	return &riverClient{client, ended}
}
