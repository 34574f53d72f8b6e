package natspool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A dead letter has these headers beside the headers of its job.
const (
	headReason  = "Weir-Reason"
	headSubject = "Weir-Subject"
	headID      = "Weir-Job"
)

// longestReason bounds the text of a reason, in bytes.
const longestReason = 1024

func (q *Queue) deadSubject(job string) string { return "weir.dead." + q.conf.Stream + "." + job }

const deadSuffix = "_dead" // of the name of a stream

// bury puts a job into the stream of dead letters, once. A job that is so large that no header fits
// in is kept without its reason.
func (q *Queue) bury(ctx context.Context, m jetstream.Msg, meta *jetstream.MsgMetadata, reason error) error {
	id := strconv.FormatUint(meta.Sequence.Stream, 10)
	out := &nats.Msg{Subject: q.deadSubject(id), Data: m.Data(), Header: headersOf(m.Headers())}
	out.Header.Set(headReason, oneLine(reason.Error()))
	out.Header.Set(headSubject, m.Subject())
	out.Header.Set(headID, jobOf(m, meta).ID)
	// The number may come again in a stream that was made anew, the time does not.
	out.Header.Set(jetstream.MsgIDHeader, fmt.Sprintf("%s at %d", id, meta.Timestamp.UnixNano()))
	if err := q.publish(ctx, out, m.Headers()); err != nil {
		return fmt.Errorf("natspool: cannot put job %s among the dead letters: %w", id, err)
	}
	return nil
}

// errFullHeaders is the error of a server that takes no more headers.
var errFullHeaders = &jetstream.APIError{ErrorCode: 10097}

// publish publishes a message or, if it is too large, the message with the headers of the job
// alone. It leaves out the ID among them, since another job may have had the same ID.
func (q *Queue) publish(ctx context.Context, out *nats.Msg, job nats.Header) error {
	_, err := q.js.PublishMsg(ctx, out)
	if errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, errFullHeaders) {
		out.Header = headersOf(job)
		out.Header.Del(jetstream.MsgIDHeader)
		_, err = q.js.PublishMsg(ctx, out)
	}
	return err
}

// headersOf copies the headers of a job without its sender's instructions to the server, such as to
// expect a stream, and without the reason and the subject of a dead letter, which its sender must
// not choose. The instructions were for the original message only.
func headersOf(job nats.Header) nats.Header {
	own := nats.Header{}
	for name, values := range job {
		instructs := name != jetstream.MsgIDHeader && strings.HasPrefix(name, "Nats-")
		if !instructs && name != headReason && name != headSubject {
			own[name] = values
		}
	}
	return own
}

// oneLine makes a reason fit into a header.
func oneLine(reason string) string {
	reason = strings.Join(strings.Fields(strings.ToValidUTF8(reason, "?")), " ")
	if len(reason) > longestReason {
		reason = strings.ToValidUTF8(reason[:longestReason], "") + "..."
	}
	return reason
}

// A DeadLetter is a job that was rejected.
type DeadLetter struct {
	Job    Job       // the job, without headers that instruct the server; its Attempt is 0
	Number uint64    // its number among the dead letters, for [Queue.Requeue]
	Reason string    // why, in one line of up to about a kilobyte; "" if it did not fit in
	At     time.Time // when it was rejected
}

// DeadLetters returns the dead letters, oldest first. The sequence ends with the first error.
func (q *Queue) DeadLetters(ctx context.Context) iter.Seq2[DeadLetter, error] {
	ctx = cmp.Or(ctx, context.Background())
	return func(yield func(DeadLetter, error) bool) {
		for next := uint64(1); ; {
			m, err := q.dead.GetMsg(ctx, next, jetstream.WithGetMsgSubject(q.deadSubject("*")))
			switch {
			case errors.Is(err, jetstream.ErrMsgNotFound):
				return
			case err != nil:
				yield(DeadLetter{}, fmt.Errorf("natspool: the dead letters of %s: %w", q.conf.Stream, err))
				return
			case !yield(q.letterOf(m), nil):
				return
			}
			next = m.Sequence + 1
		}
	}
}

func (q *Queue) letterOf(m *jetstream.RawStreamMsg) DeadLetter {
	l := DeadLetter{
		Number: m.Sequence, At: m.Time, Reason: m.Header.Get(headReason),
		Job: Job{ID: m.Header.Get(headID), Data: m.Data, Header: headersOf(m.Header), Subject: m.Header.Get(headSubject)},
	}
	if l.Job.ID == "" { // it had no room for headers
		l.Job.ID = strings.TrimPrefix(m.Subject, q.deadSubject(""))
	}
	l.Job.Subject = cmp.Or(l.Job.Subject, q.subject)
	l.Job.Header.Del(headID)
	l.Job.Header.Del(jetstream.MsgIDHeader)
	return l
}

// Requeue adds the job of a dead letter to the stream again, as a new job, and removes the letter.
// If the letter does not exist, the error matches jetstream.ErrMsgNotFound.
func (q *Queue) Requeue(ctx context.Context, number uint64) error {
	ctx = cmp.Or(ctx, context.Background())
	m, err := q.dead.GetMsg(ctx, number)
	if err != nil {
		return fmt.Errorf("natspool: dead letter %d of %s: %w", number, q.conf.Stream, err)
	}
	l := q.letterOf(m)
	out := &nats.Msg{Subject: l.Job.Subject, Data: l.Job.Data, Header: headersOf(l.Job.Header)}
	out.Header.Set(headID, l.Job.ID)
	out.Header.Set(jetstream.MsgIDHeader, fmt.Sprintf("dead letter %d at %d", number, m.Time.UnixNano()))
	err = q.publish(ctx, out, l.Job.Header)
	if err == nil {
		err = q.dead.DeleteMsg(ctx, number)
	}
	if err != nil {
		return fmt.Errorf("natspool: cannot requeue dead letter %d of %s: %w", number, q.conf.Stream, err)
	}
	return nil
}
