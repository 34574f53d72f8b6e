package natspool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

// each runs a pool until the function returns false, for two minutes at most.
func each(t *testing.T, p *pool.Pool, f func(pool.Event) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ev, err := range p.Run(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind != pool.Decided && !f(ev) {
			return
		}
	}
}

// first runs a pool until there were n events, which must satisfy the function.
func first(t *testing.T, n int, p *pool.Pool, is func(pool.Event) bool) {
	t.Helper()
	each(t, p, func(ev pool.Event) bool {
		if !is(ev) {
			t.Errorf("%+v", ev)
		}
		n--
		return n > 0
	})
}

func isDone(ev pool.Event) bool     { return ev.Kind == pool.Done }
func isRejected(ev pool.Event) bool { return ev.Rejected }

var errJob = errors.New("no such\ncustomer")

// failing is a task that fails with the error.
func failing(err error) func(natspool.Job) pool.Task {
	return func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) { return nil, err }}
	}
}

// TestDeadLetters: a job that fails for good is kept with its reason, and can come again.
func TestDeadLetters(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail"})
	add(t, q, "bad")
	attempt := 0
	c := pool.Config{Source: q.Source(failing(errJob)), MaxAttempts: 3, Redeliver: time.Millisecond}
	first(t, 3, newPool(t, q, 1, c), func(ev pool.Event) bool {
		attempt++
		return ev.Attempt == attempt && ev.Rejected == (attempt == 3)
	})
	if s := snapshot(t, q); s != (natspool.Snapshot{Dead: 1}) {
		t.Errorf("%+v", s)
	}
	l := letters(t, q, 1)[0]
	if l.Reason != "no such customer" || l.Job.ID != "bad" || string(l.Job.Data) != "the job bad" ||
		l.Job.Subject != "weir.jobs.mail" || len(l.Job.Header) != 0 || time.Since(l.At) > time.Minute {
		t.Errorf("%+v", l)
	}
	must.Do(t, q.Requeue(t.Context(), l.Number))
	if err := q.Requeue(t.Context(), l.Number); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Errorf("requeued twice: %v", err)
	}
	first(t, 1, newPool(t, q, 1, pool.Config{}), func(ev pool.Event) bool {
		return isDone(ev) && ev.Attempt <= 2 // the last fetch of the pool before may have got it
	})
	if s := snapshot(t, q); s != (natspool.Snapshot{}) {
		t.Errorf("%+v", s)
	}
}

// TestDeadLettersOfAnyJob: with instructions to the server, such as which stream to expect; one on
// which the code for tasks panics; and one so large that no reason fits in.
func TestDeadLettersOfAnyJob(t *testing.T) {
	l := local(t, t.TempDir())
	q := queue(t, l, natspool.Config{Stream: "mail"})
	large := strings.Repeat("x", int(l.JetStream().Conn().MaxPayload()))
	sent := &nats.Msg{Subject: "weir.jobs.mail", Data: []byte("{"), Header: nats.Header{"Trace": {"7"}}}
	must.Have(l.JetStream().PublishMsg(t.Context(), sent, jetstream.WithExpectStream("mail"), jetstream.WithExpectLastSequence(0)))(t)
	must.Do(t, q.Add(t.Context(), "", []byte(large)))
	unread := q.Source(func(j natspool.Job) pool.Task { panic("unexpected end of " + string(j.Data[:1])) })
	first(t, 2, newPool(t, q, 2, pool.Config{Source: unread}), func(ev pool.Event) bool {
		return ev.Rejected && errors.As(ev.Err, new(*pool.PanicError))
	})
	for _, l := range letters(t, q, 2) {
		switch h := l.Job.Header; {
		case l.Job.ID == "1" && string(l.Job.Data) == "{" && strings.Contains(l.Reason, "unexpected end of {") && len(h) == 1 && h.Get("Trace") == "7":
		case l.Job.ID == "2" && string(l.Job.Data) == large && l.Reason == "" && len(h) == 0:
		default:
			t.Errorf("job %s of %d bytes, with %v: %q", l.Job.ID, len(l.Job.Data), h, l.Reason)
		}
		must.Do(t, q.Requeue(t.Context(), l.Number))
	}
	if s := snapshot(t, q); s.Waiting+s.Held != 2 || s.Dead != 0 { // the last pull may take one, and give it back
		t.Errorf("%+v: want both requeued", s)
	}
}

// letters returns the dead letters, of which there must be n.
func letters(t *testing.T, q *natspool.Queue, n int) (all []natspool.DeadLetter) {
	t.Helper()
	for l, err := range q.DeadLetters(t.Context()) {
		must.Do(t, err)
		all = append(all, l)
	}
	if len(all) != n {
		t.Fatalf("%d dead letters, want %d", len(all), n)
	}
	return all
}

// TestDeadLettersBelieveNoJob: a job with the headers of a dead letter, so large that no other fits
// in, goes back to its own stream.
func TestDeadLettersBelieveNoJob(t *testing.T) {
	l := local(t, t.TempDir())
	q := queue(t, l, natspool.Config{Stream: "mail"})
	sent := &nats.Msg{
		Subject: "weir.jobs.mail", Data: make([]byte, l.JetStream().Conn().MaxPayload()-100),
		Header: nats.Header{"Weir-Subject": {"weir.elsewhere"}, "Weir-Reason": {"none"}},
	}
	must.Have(l.JetStream().PublishMsg(t.Context(), sent))(t)
	first(t, 1, newPool(t, q, 1, pool.Config{Source: q.Source(failing(pool.Permanent(errJob)))}), isRejected)
	if l := letters(t, q, 1)[0]; l.Job.Subject != "weir.jobs.mail" || l.Reason != "" {
		t.Errorf("a dead letter of %s, because %q", l.Job.Subject, l.Reason)
	}
}

// TestDeadLetterOfFullHeaders: a server takes no more than 64 kB of headers.
func TestDeadLetterOfFullHeaders(t *testing.T) {
	l := local(t, t.TempDir())
	q := queue(t, l, natspool.Config{Stream: "mail"})
	sent := &nats.Msg{Subject: "weir.jobs.mail", Header: nats.Header{"Trace": {strings.Repeat("x", 65_450)}}}
	must.Have(l.JetStream().PublishMsg(t.Context(), sent))(t)
	for range 2 { // it fails again after it was requeued
		first(t, 1, newPool(t, q, 1, pool.Config{Source: q.Source(failing(pool.Permanent(errJob)))}), isRejected)
		letter := letters(t, q, 1)[0]
		if got := len(letter.Job.Header.Get("Trace")); got != 65_450 {
			t.Errorf("a header of %d bytes", got)
		}
		must.Do(t, q.Requeue(t.Context(), letter.Number))
	}
}

// TestDeadLettersOfOneID: two jobs, one after the other, may have the same ID and be so large that
// no further header fits into their messages.
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
	first(t, 2, newPool(t, q, 1, pool.Config{Source: q.Source(failing(pool.Permanent(errJob)))}), isRejected)
	letters(t, q, 2)
}

// TestProcessHoldsItsSize: the other jobs stay in the stream, for other processes.
func TestProcessHoldsItsSize(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail"})
	for i := range 50 {
		add(t, q, fmt.Sprint(i))
	}
	var p *pool.Pool
	source := q.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(context.Context) (any, error) { return p.Snapshot(), nil }}
	})
	p = newPool(t, q, 4, pool.Config{Source: source})
	first(t, 50, p, func(ev pool.Event) bool {
		s := ev.Value.(pool.Snapshot)
		return s.Running >= 1 && s.Running+s.Ready <= 4
	})
}

// TestAgeOfLargeJobs: a scaler that asks ten times in a second does not have each job read twice.
func TestAgeOfLargeJobs(t *testing.T) {
	l := local(t, t.TempDir())
	q := queue(t, l, natspool.Config{Stream: "mail"})
	const n, size = 10, 200_000
	for range n {
		must.Do(t, q.Add(t.Context(), "", make([]byte, size)))
	}
	source, before := q.Source(done), l.JetStream().Conn().Stats().InBytes
	for range n - 1 {
		must.Do(t, source.Claim(t.Context(), 1, func(pool.Delivery) {}))
		if d, err := source.Backlog(t.Context()); err != nil || d.Oldest <= 0 {
			t.Errorf("%+v, %v: want the age of the oldest", d, err)
		}
	}
	if read := l.JetStream().Conn().Stats().InBytes - before; read > 2*n*size {
		t.Errorf("%d bytes were read of %d", read, n*size)
	}
}

// TestPoolGivesBack: a pool that ends gives back the jobs that it holds, and another has them at
// once.
func TestPoolGivesBack(t *testing.T) {
	q := queue(t, local(t, t.TempDir()), natspool.Config{Stream: "mail", Lease: time.Hour})
	add(t, q, "a", "b", "c")
	var held sync.WaitGroup
	held.Add(2)
	long := q.Source(func(j natspool.Job) pool.Task {
		return pool.Task{Key: j.ID, Run: func(ctx context.Context) (any, error) {
			if j.ID == "a" {
				held.Wait()
				return nil, nil
			}
			held.Done()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}
	})
	first(t, 1, newPool(t, q, 3, pool.Config{Source: long}), isDone)
	first(t, 2, newPool(t, q, 3, pool.Config{}), func(ev pool.Event) bool {
		return isDone(ev) && ev.Key != "a" && ev.Attempt >= 2 && ev.Attempt <= 3
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
