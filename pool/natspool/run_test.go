package natspool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// newPool returns a pool of so many slots over a queue, whose jobs succeed unless the configuration
// has a source.
func newPool(t testing.TB, q *natspool.Queue, slots int64, c pool.Config) *pool.Pool {
	t.Helper()
	c.Capacity = must.Have(capacity.New(capacity.Vector{"slots": slots}))(t)
	if c.Source == nil {
		c.Source = q.Source(done)
	}
	return must.Have(pool.New(c))(t)
}

// each runs a pool until the function returns false.
func each(t *testing.T, p *pool.Pool, f func(pool.Event) bool) {
	t.Helper()
	for ev, err := range p.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind != pool.Decided && !f(ev) {
			return
		}
	}
}

var errJob = errors.New("no such\ncustomer")

// TestDeadLetters: a job that fails for good is kept with its reason, and can come again.
func TestDeadLetters(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail"})
	add(t, q, "bad")
	failing := q.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) { return nil, errJob }}
	})
	var attempts []int
	c := pool.Config{Source: failing, MaxAttempts: 3, Redeliver: time.Millisecond}
	each(t, newPool(t, q, 1, c), func(ev pool.Event) bool {
		attempts = append(attempts, ev.Attempt)
		return !ev.Rejected
	})
	if fmt.Sprint(attempts) != "[1 2 3]" {
		t.Errorf("attempts %v", attempts)
	}
	if s := snapshot(t, q); s != (natspool.Snapshot{Dead: 1}) {
		t.Errorf("%+v", s)
	}
	letters := letters(t, q)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters", len(letters))
	}
	l := letters[0]
	if l.Reason != "no such customer" || l.Job.ID != "bad" || string(l.Job.Data) != "the job bad" ||
		l.Job.Subject != "weir.jobs.mail" || len(l.Job.Header) != 0 || time.Since(l.At) > time.Minute {
		t.Errorf("%+v", l)
	}
	must.Do(t, q.Requeue(t.Context(), l.Number))
	if err := q.Requeue(t.Context(), l.Number); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Errorf("requeued twice: %v", err)
	}
	each(t, newPool(t, q, 1, pool.Config{}), func(ev pool.Event) bool {
		if ev.Kind != pool.Done || ev.Attempt > 2 { // the last fetch of the pool before may have got it
			t.Errorf("%+v", ev)
		}
		return false
	})
	if s := snapshot(t, q); s != (natspool.Snapshot{}) {
		t.Errorf("%+v", s)
	}
}

// TestDeadLetterLeavesOutInstructions: a sender may have said to the server which stream it
// expects, and the stream of dead letters is another.
func TestDeadLetterLeavesOutInstructions(t *testing.T) {
	l := local(t, t.TempDir())
	q := queue(t, l, natspool.Config{Stream: "mail"})
	sent := &nats.Msg{Subject: "weir.jobs.mail", Data: []byte("a"), Header: nats.Header{"Trace": {"7"}}}
	must.Have(l.JetStream().PublishMsg(t.Context(), sent, jetstream.WithExpectStream("mail"), jetstream.WithExpectLastSequence(0)))(t)
	failing := q.Source(func(natspool.Job) pool.Task {
		return pool.Task{Run: func(context.Context) (any, error) { return nil, pool.Permanent(errJob) }}
	})
	each(t, newPool(t, q, 1, pool.Config{Source: failing}), func(ev pool.Event) bool {
		if !ev.Rejected {
			t.Errorf("%+v", ev)
		}
		return false
	})
	for _, letter := range letters(t, q) {
		if h := letter.Job.Header; len(h) != 1 || h.Get("Trace") != "7" {
			t.Errorf("its headers are %v", h)
		}
		must.Do(t, q.Requeue(t.Context(), letter.Number))
	}
	if s := snapshot(t, q); s.Waiting+s.Held != 1 || s.Dead != 0 {
		t.Errorf("%+v: want it requeued", s)
	}
}

func letters(t *testing.T, q *natspool.Queue) (all []natspool.DeadLetter) {
	t.Helper()
	for l, err := range q.DeadLetters(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// TestJobsThatNothingCanRead: one on which the code for tasks panics, and one so large that no
// reason fits in.
func TestJobsThatNothingCanRead(t *testing.T) {
	l := local(t, t.TempDir())
	q := queue(t, l, natspool.Config{Stream: "mail"})
	large := strings.Repeat("x", int(l.JetStream().Conn().MaxPayload()))
	for _, data := range []string{"{", large} {
		must.Do(t, q.Add(t.Context(), "", []byte(data)))
	}
	unread := q.Source(func(j natspool.Job) pool.Task { panic("unexpected end of " + string(j.Data[:1])) })
	n := 0
	each(t, newPool(t, q, 2, pool.Config{Source: unread}), func(ev pool.Event) bool {
		if !ev.Rejected || !errors.As(ev.Err, new(*pool.PanicError)) {
			t.Errorf("%+v", ev)
		}
		n++
		return n < 2
	})
	for _, l := range letters(t, q) {
		switch {
		case l.Job.ID == "1" && string(l.Job.Data) == "{" && strings.Contains(l.Reason, "unexpected end of {"):
		case l.Job.ID == "2" && string(l.Job.Data) == large && l.Reason == "":
		default:
			t.Errorf("job %s of %d bytes: %q", l.Job.ID, len(l.Job.Data), l.Reason)
		}
		must.Do(t, q.Requeue(t.Context(), l.Number))
	}
	if s := snapshot(t, q); s.Waiting+s.Held != 2 || s.Dead != 0 { // the last pull may take one, and give it back
		t.Errorf("%+v", s)
	}
}

// TestDeadLettersOfOneID: two jobs may have the same, one after the other, and be so large that no
// other header fits in.
func TestDeadLettersOfOneID(t *testing.T) {
	l := local(t, t.TempDir())
	must.Have(l.JetStream().CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "mail", Subjects: []string{"weir.jobs.mail"}, Retention: jetstream.WorkQueuePolicy, Duplicates: 100 * time.Millisecond,
	}))(t)
	q := queue(t, l, natspool.Config{Stream: "mail"})
	large := make([]byte, l.JetStream().Conn().MaxPayload()-50)
	for i := range 2 {
		must.Happen(t, "the stream has forgotten the ID", func() bool {
			must.Do(t, q.Add(t.Context(), "monthly", large))
			return snapshot(t, q).Waiting > int64(i)
		})
	}
	unread := q.Source(func(natspool.Job) pool.Task { panic(errJob) })
	n := 0
	each(t, newPool(t, q, 1, pool.Config{Source: unread}), func(pool.Event) bool { n++; return n < 2 })
	if all := letters(t, q); len(all) != 2 {
		t.Errorf("%d dead letters, want 2", len(all))
	}
}

// TestAcknowledgedJobsAreGone: when the event of a job says that it is done, the stream has
// forgotten it, although acknowledgements go in groups.
func TestAcknowledgedJobsAreGone(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail"})
	const n = 300
	for i := range n {
		add(t, q, fmt.Sprint(i))
	}
	left := n
	each(t, newPool(t, q, 64, pool.Config{}), func(ev pool.Event) bool {
		left--
		return left > 0
	})
	if s := snapshot(t, q); s != (natspool.Snapshot{}) {
		t.Errorf("%+v after all are done", s)
	}
}

// TestProcessHoldsItsSize: the other jobs stay in the stream, for other processes.
func TestProcessHoldsItsSize(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail"})
	for i := range 50 {
		add(t, q, fmt.Sprint(i))
	}
	source := q.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) { return snapshot(t, q), nil }}
	})
	n := 0
	each(t, newPool(t, q, 4, pool.Config{Source: source}), func(ev pool.Event) bool {
		if held := ev.Value.(natspool.Snapshot).Held; held < 1 || held > 4 {
			t.Errorf("%d are held", held)
		}
		n++
		return n < 50
	})
}

// TestPoolGivesBack: a pool that ends gives back the jobs that it holds, and another has them at
// once.
func TestPoolGivesBack(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail", Lease: time.Hour})
	add(t, q, "a", "b", "c")
	long := q.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(ctx context.Context) (any, error) {
			if j.ID == "a" {
				return nil, nil
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}
	})
	each(t, newPool(t, q, 3, pool.Config{Source: long}), func(pool.Event) bool { return false })
	n := 0
	each(t, newPool(t, q, 3, pool.Config{}), func(ev pool.Event) bool {
		if ev.Key == "a" || ev.Kind != pool.Done || ev.Attempt < 2 || ev.Attempt > 3 {
			t.Errorf("ran again: %+v", ev)
		}
		n++
		return n < 2
	})
}

// TestStreamThatIsDeleted ends the run: no patience brings it back.
func TestStreamThatIsDeleted(t *testing.T) {
	l := local(t, t.TempDir())
	q := queue(t, l, natspool.Config{Stream: "mail"})
	add(t, q, "a")
	var last error
	for ev, err := range newPool(t, q, 1, pool.Config{}).Run(t.Context()) {
		if last = err; ev.Kind == pool.Done {
			must.Do(t, l.JetStream().DeleteStream(t.Context(), "mail"))
		}
	}
	if !errors.Is(last, pool.ErrSource) || !strings.Contains(last.Error(), "the stream mail") {
		t.Errorf("%v", last)
	}
}
