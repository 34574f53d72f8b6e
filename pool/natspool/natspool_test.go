package natspool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
	"github.com/weir-go/weir/pool/sourcetest"
)

// local opens a folder of its own.
func local(t testing.TB, dir string) *natspool.Local {
	t.Helper()
	l := must.Have(natspool.Open(t.Context(), dir))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func queue(t testing.TB, l *natspool.Local, c natspool.Config) *natspool.Queue {
	t.Helper()
	return must.Have(natspool.New(t.Context(), l.JetStream(), c))(t)
}

func TestSource(t *testing.T) {
	l := local(t, t.TempDir())
	var n atomic.Int32
	sourcetest.Run(t, sourcetest.Config{
		Leased: true, Patience: 2 * time.Second,
		Open: func(t *testing.T, tasks []pool.Task) pool.Source {
			q := queue(t, l, natspool.Config{Stream: fmt.Sprintf("test-%d", n.Add(1)), Lease: 500 * time.Millisecond})
			for _, task := range tasks {
				must.Do(t, q.Add(t.Context(), task.Key, []byte(task.Key)))
			}
			return q.Source(func(j natspool.Job) pool.Task { return pool.Task{Key: j.ID} })
		},
	})
}

func TestConfig(t *testing.T) {
	l := local(t, t.TempDir())
	for want, c := range map[string]natspool.Config{
		`Stream is ""`:    {},
		`Stream is "a.b"`: {Stream: "a.b"},
		"without _dead":   {Stream: "a_dead"},
		"Replicas is 7":   {Stream: "a", Replicas: 7},
		"Lease is 1ns":    {Stream: "a", Lease: 1},
	} {
		if _, err := natspool.New(t.Context(), l.JetStream(), c); !errors.Is(err, pool.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	wide := natspool.Config{Stream: "wide", Replicas: 3} // of one server
	if _, err := natspool.New(t.Context(), l.JetStream(), wide); err == nil || !strings.Contains(err.Error(), "cannot open the stream wide") {
		t.Errorf("%v", err)
	}
}

// unsure is a JetStream that does not say whether a stream has a consumer.
type unsure struct{ jetstream.JetStream }

func (u unsure) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := u.JetStream.Stream(ctx, name)
	return unsureStream{s}, err
}

type unsureStream struct{ jetstream.Stream }

func (unsureStream) Consumer(context.Context, string) (jetstream.Consumer, error) {
	return nil, nats.ErrTimeout
}

// Jobs whose IDs differ in what a header does not keep must not count as one job.
func TestIDsThatNoHeaderKeeps(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail"})
	must.Do(t, q.Add(t.Context(), "a b", nil))
	must.Do(t, q.Add(t.Context(), "a", nil))
	for _, id := range []string{"a\nb", "a\rb", " a", "a\t", " "} {
		if err := q.Add(t.Context(), id, nil); !errors.Is(err, pool.ErrConfig) {
			t.Errorf("%q: %v, want %v", id, err, pool.ErrConfig)
		}
	}
}

func TestSourceOfNil(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a source that makes no tasks")
		}
	}()
	new(natspool.Queue).Source(nil)
}

// A consumer that exists keeps its lease, whoever opens the queue next, such as weir jobs. One that
// cannot be asked for it is not changed.
func TestConsumerKeepsItsLease(t *testing.T) {
	l := local(t, t.TempDir())
	queue(t, l, natspool.Config{Stream: "mail", Lease: time.Hour})
	queue(t, l, natspool.Config{Stream: "mail", Lease: time.Minute})
	if _, err := natspool.New(t.Context(), unsure{l.JetStream()}, natspool.Config{Stream: "mail"}); !errors.Is(err, nats.ErrTimeout) {
		t.Errorf("%v, want that of the consumer", err)
	}
	consumer := must.Have(l.JetStream().Consumer(t.Context(), "mail", "weir"))(t)
	if lease := consumer.CachedInfo().Config.AckWait; lease != time.Hour {
		t.Errorf("its lease is %v: was 1h", lease)
	}
}

func snapshot(t testing.TB, q *natspool.Queue) natspool.Snapshot {
	t.Helper()
	return must.Have(q.Snapshot(t.Context()))(t)
}

func add(t testing.TB, q *natspool.Queue, ids ...string) {
	t.Helper()
	for _, id := range ids {
		must.Do(t, q.Add(t.Context(), id, []byte("the job "+id)))
	}
}

// done is a task that succeeds, by the identifier of its job.
func done(j natspool.Job) pool.Task {
	return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) { return nil, nil }}
}
