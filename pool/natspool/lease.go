package natspool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/pool"
)

// A lease is a delivery that is not acknowledged. JetStream takes an answer to any delivery of a
// message, however old. So the lease counts its time itself.
type lease struct {
	queue *Queue
	msg   jetstream.Msg
	meta  *jetstream.MsgMetadata

	mu    sync.Mutex
	ended bool
	until time.Time // when it is over
}

var errEnded = errors.New("natspool: the lease has ended")

// over returns why the lease is over, nil if it is not. It is called under the lock.
func (l *lease) over(now time.Time) error {
	switch {
	case l.ended:
		return errEnded
	case !now.Before(l.until):
		return fmt.Errorf("%w: its time was over", pool.ErrLeaseLost)
	}
	return nil
}

// Extend implements [pool.Lease].
func (l *lease) Extend(ctx context.Context) error {
	now := time.Now()
	l.mu.Lock()
	err := l.over(now)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if err := l.send(ctx, "+WPI"); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.over(time.Now()); err != nil {
		return err
	}
	l.until = now.Add(l.queue.lease)
	return nil
}

// end ends the lease, and returns when it would have been over.
func (l *lease) end() (until time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.over(time.Now()); err != nil {
		return until, err
	}
	l.ended = true
	return l.until, nil
}

// Acknowledge implements [pool.Lease]. It returns when the server has the acknowledgement.
func (l *lease) Acknowledge(ctx context.Context) error {
	until, err := l.end()
	if err != nil {
		return err
	}
	return l.insist(ctx, until, "+ACK")
}

// GiveBack implements [pool.Lease].
func (l *lease) GiveBack(ctx context.Context, delay time.Duration) error {
	if _, err := l.end(); err != nil {
		return err
	}
	if delay <= 0 {
		return l.send(ctx, "-NAK")
	}
	return l.send(ctx, fmt.Sprintf(`-NAK {"delay": %d}`, delay))
}

// Reject implements [pool.Rejecter]: the job is a dead letter before the stream forgets it.
func (l *lease) Reject(ctx context.Context, reason error) error {
	until, err := l.end()
	if err != nil {
		return err
	}
	if err := l.queue.bury(ctx, l.msg, l.meta, reason); err != nil {
		return err
	}
	return l.insist(ctx, until, "+TERM")
}

// send sends an answer, and waits for the server's.
func (l *lease) send(ctx context.Context, answer string) error {
	_, err := l.queue.js.Conn().RequestWithContext(ctx, l.msg.Reply(), []byte(answer))
	if err != nil {
		return fmt.Errorf("natspool: %s of job %d: %w", answer, l.meta.Sequence.Stream, err)
	}
	return nil
}

// answerTime is how long the server has to answer before an answer is sent again.
const answerTime = 5 * time.Second

// insist sends an answer until the server has it: an answer that comes twice does no harm.
func (l *lease) insist(ctx context.Context, until time.Time, answer string) error {
	for {
		within, cancel := context.WithTimeout(ctx, answerTime)
		err := l.send(within, answer)
		cancel()
		if err == nil || time.Until(until) < pause {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}
