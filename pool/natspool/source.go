package natspool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/pool"
)

// Source returns the queue as the source of a pool. The function makes a task of each job. A task
// without a Key gets the job's number in the stream as its Key. A panic of the function rejects the
// job. Source panics if the function is nil, because that would reject all jobs.
//
// The source never ends. While NATS cannot be reached it waits, and [Config].Waiting hears of it.
// A stream or consumer that was deleted ends the run.
//
// Its backlog is an estimate: jobs that wait to be delivered again are not in it.
func (q *Queue) Source(task func(Job) pool.Task) pool.Source {
	if task == nil {
		panic("natspool: Source: task is nil: want a function that makes a task of a job")
	}
	return &source{Queue: q, task: task}
}

type source struct {
	*Queue
	task func(Job) pool.Task

	troubled bool // Waiting was last called with an error; for the claiming goroutine alone

	mu     sync.Mutex
	next   uint64    // the number of the first job that was not delivered when it was last looked for
	from   time.Time // when that job was sent
	looked time.Time // when that job was looked for
}

// patience is how long a pull that finds no job waits for the first job. Between two pulls the pool
// can change the number of jobs that it wants.
const patience = time.Second

// pause is the time from one try to the next while NATS cannot be reached.
const pause = 200 * time.Millisecond

// Claim implements [pool.Source]: it takes the jobs that are there, and waits for a job if there
// are none.
func (s *source) Claim(ctx context.Context, n int, handOn func(pool.Delivery)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !s.js.Conn().IsConnected() { // a claim would only wait to be sent
		return s.endure(ctx, errLost)
	}
	got := 0
	batch, err := s.consumer.FetchNoWait(n)
	if err == nil {
		for m := range batch.Messages() {
			handOn(s.delivery(m))
			got++
		}
		err = batch.Error()
	}
	if err == nil && got == 0 {
		got, err = s.await(ctx, handOn)
	}
	switch {
	case ctx.Err() != nil && got == 0:
		return context.Cause(ctx)
	case got > 0 || err == nil:
		s.fares(nil)
		return nil
	}
	return s.endure(ctx, err)
}

func (s *source) await(ctx context.Context, handOn func(pool.Delivery)) (got int, err error) {
	batch, err := s.consumer.Fetch(1, jetstream.FetchMaxWait(patience))
	if err != nil {
		return 0, err
	}
	select {
	case m, ok := <-batch.Messages():
		if !ok {
			return 0, batch.Error()
		}
		handOn(s.delivery(m))
		return 1, nil
	case <-ctx.Done():
		go func() { // a job may be on its way: it loses one attempt
			for m := range batch.Messages() {
				_ = m.Nak() // or its lease runs out
			}
		}()
		return 0, context.Cause(ctx)
	}
}

// errLost is the reason of a queue to wait while its connection is lost.
var errLost = errors.New("the connection is lost")

// endure waits a while after an error. It returns the error instead if waiting would not help.
func (s *source) endure(ctx context.Context, err error) error {
	cause := err
	if s.js.Conn().IsConnected() {
		within, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		_, cause = s.consumer.Info(within)
	}
	if errors.Is(cause, jetstream.ErrConsumerNotFound) || errors.Is(cause, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("natspool: the stream %s: %w", s.conf.Stream, cause)
	}
	if conn := s.js.Conn(); conn.IsClosed() {
		return fmt.Errorf("natspool: the stream %s: %w: %w", s.conf.Stream, err, cmp.Or(conn.LastError(), nats.ErrConnectionClosed))
	}
	s.fares(err)
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fares calls Waiting when the source begins to wait for NATS, and when that is over.
func (s *source) fares(err error) {
	if s.troubled == (err != nil) {
		return
	}
	s.troubled = err != nil
	if s.conf.Waiting == nil {
		return
	}
	if err != nil {
		err = fmt.Errorf("natspool: the stream %s waits for NATS: %w", s.conf.Stream, err)
	}
	s.conf.Waiting(err)
}

func (s *source) delivery(m jetstream.Msg) pool.Delivery {
	at := time.Now()
	meta, err := m.Metadata()
	if err != nil { // a message that no consumer sent
		meta = &jetstream.MsgMetadata{Timestamp: at}
	}
	l := &lease{queue: s.Queue, msg: m, meta: meta, until: at.Add(s.lease)}
	job := jobOf(m, meta)
	task := s.taskOf(job)
	if task.Key == "" {
		task.Key = strconv.FormatUint(meta.Sequence.Stream, 10)
	}
	return pool.Delivery{Task: task, Attempt: job.Attempt, Lease: l, LeaseTime: s.lease}
}

// taskOf makes a task of a job. If the function panics, the task fails for good.
func (s *source) taskOf(job Job) (task pool.Task) {
	defer func() {
		if p := recover(); p != nil {
			err := pool.Permanent(fmt.Errorf("natspool: the task of job %s: %w", job.ID, &pool.PanicError{Value: p, Stack: debug.Stack()}))
			task = pool.Task{Run: func(context.Context) (any, error) { return nil, err }}
		}
	}()
	return s.task(job)
}

// Bounded implements [pool.Bounded].
func (*source) Bounded() {}

// Backlog implements [pool.Source].
func (s *source) Backlog(ctx context.Context) (pool.Depth, error) {
	info, err := s.consumer.Info(ctx)
	if err != nil {
		return pool.Depth{}, err
	}
	d := pool.Depth{Count: int64(info.NumPending)} //nolint:gosec // a count of messages
	if d.Count > 0 {
		d.Oldest, err = s.oldest(ctx, info.Delivered.Stream+1)
	}
	return d, err
}

// oldest returns how long the first job from a number on has waited, as it was up to a second ago.
// It has to read the whole job, because no other request to JetStream returns its time.
func (s *source) oldest(ctx context.Context, from uint64) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != from && time.Since(s.looked) >= time.Second {
		m, err := s.stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(">"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return 0, nil // it was claimed meanwhile
		}
		if err != nil {
			return 0, err
		}
		s.next, s.from, s.looked = from, m.Time, time.Now()
	}
	return max(0, time.Since(s.from)), nil
}
