package natspool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/pool"
)

// A Config configures a [Queue]. 0 means the default.
type Config struct {
	// Stream names the stream: 1 to 64 letters, digits, hyphens and underscores, without _dead at
	// the end, as the streams of dead letters have it. A stream that exists is used as it is.
	// Otherwise New makes the stream, on disk. It keeps each job until the job is acknowledged. Its
	// jobs are messages with the subject weir.jobs. and the name.
	Stream string

	// Replicas is the number of servers that keep each stream which the queue makes: 1 to 5.
	// Defaults to 1. With 3 the loss of a server does no harm.
	Replicas int

	// Lease is how long a job belongs to a process that no longer extends it: 100 ms to 1 h.
	// Defaults to 30 s. If New makes the consumer, Lease is its AckWait, and its MaxAckPending is
	// 65,536: so many jobs may run, or wait to be delivered again, in all processes together.
	Lease time.Duration

	// Waiting, if set, is called with an error when the queue begins to wait for NATS, and with nil
	// when that is over. It must not block. A connection notices a silent server by
	// nats.PingInterval: after minutes, if that option is not set.
	Waiting func(error)
}

// A Queue is a stream of jobs. Make one with [New]. It is safe for concurrent use.
type Queue struct {
	conf     Config
	js       jetstream.JetStream
	stream   jetstream.Stream
	dead     jetstream.Stream
	consumer jetstream.Consumer
	subject  string
	lease    time.Duration
}

// A Job is a message of the stream.
type Job struct {
	// ID names the job, also when it comes again from the dead letters. It is the Nats-Msg-Id of
	// the first message, or without one the number of that message in the stream.
	ID      string
	Data    []byte      // as it was sent
	Header  nats.Header // as it was sent; nil if there is none
	Subject string      // the subject to which it was sent
	Attempt int         // how often it was delivered, with this time; 0 of a dead letter
}

// withDefaults checks the settings and fills in the defaults.
func (c Config) withDefaults() (Config, error) {
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	if c.Lease < 100*time.Millisecond || c.Lease > time.Hour {
		return c, settings.Invalid(pool.ErrConfig, "natspool: Lease", c.Lease, "0 (the default, 30s) or 100ms to 1h")
	}
	if strings.HasSuffix(c.Stream, deadSuffix) { // perhaps the dead letters of another queue
		return c, settings.Invalid(pool.ErrConfig, "natspool: Stream", strconv.Quote(c.Stream), "a name without "+deadSuffix+" at its end")
	}
	err := cmp.Or(
		settings.DefaultUpTo(pool.ErrConfig, "natspool: Replicas", &c.Replicas, 1, 5),
		settings.Name(pool.ErrConfig, "natspool: Stream", c.Stream),
	)
	return c, err
}

// New returns a queue. It first makes the stream, its consumer and the stream of its dead letters,
// if they are missing. The stream of dead letters has the name of the stream and _dead. An error
// about a setting matches [pool.ErrConfig]; other errors come from NATS.
func New(ctx context.Context, js jetstream.JetStream, c Config) (*Queue, error) {
	ctx = cmp.Or(ctx, context.Background())
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	q := &Queue{conf: c, js: js}
	q.stream, err = open(ctx, js, jetstream.StreamConfig{
		Name: c.Stream, Subjects: []string{"weir.jobs." + c.Stream}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, Replicas: c.Replicas,
	})
	if err != nil {
		return nil, err
	}
	q.dead, err = open(ctx, js, jetstream.StreamConfig{
		Name: c.Stream + deadSuffix, Subjects: []string{q.deadSubject("*")}, Discard: jetstream.DiscardNew,
		Replicas: c.Replicas, Duplicates: 24 * time.Hour,
	})
	if err != nil {
		return nil, err
	}
	q.subject = "weir.jobs." + c.Stream
	if subjects := q.stream.CachedInfo().Config.Subjects; len(subjects) > 0 {
		q.subject = subjects[0]
	}
	return q, q.consume(ctx)
}

// open opens a stream, and makes it if there is none.
func open(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := js.Stream(ctx, c.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = js.CreateStream(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("natspool: cannot open the stream %s: %w", c.Name, err)
	}
	return s, nil
}

// durable names the consumer that all processes of the queue share: a stream that is a work queue
// has only one consumer.
const durable = "weir"

// consume opens the consumer, and makes it if there is none.
func (q *Queue) consume(ctx context.Context) (err error) {
	q.consumer, err = q.stream.Consumer(ctx, durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		q.consumer, err = q.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.conf.Lease,
			MaxAckPending: 65_536, MaxDeliver: -1,
		})
	}
	if err != nil {
		return fmt.Errorf("natspool: cannot open the consumer %s of the stream %s: %w", durable, q.conf.Stream, err)
	}
	q.lease = q.consumer.CachedInfo().Config.AckWait
	return nil
}

// Add adds a job and returns when the stream has it. The stream drops a second job with the same ID
// within two minutes, or within its own window of duplicates; "" is no ID. An ID with a line break,
// or with a space or a tab at its beginning or end, is an error that matches [pool.ErrConfig].
func (q *Queue) Add(ctx context.Context, id string, data []byte) error {
	ctx = cmp.Or(ctx, context.Background())
	if strings.ContainsAny(id, "\r\n") || strings.Trim(id, " \t") != id { // its header would have another ID's text
		return settings.Invalid(pool.ErrConfig, "natspool: ID", strconv.Quote(id), "one without line breaks, and without spaces and tabs at its ends")
	}
	if strings.ContainsAny(q.subject, "*>") {
		return fmt.Errorf("natspool: the stream %s takes subjects such as %s: publish to one of them",
			q.conf.Stream, q.subject)
	}
	var opts []jetstream.PublishOpt
	if id != "" {
		opts = append(opts, jetstream.WithMsgID(id))
	}
	_, err := q.js.Publish(ctx, q.subject, data, opts...)
	if errors.Is(err, nats.ErrMaxPayload) {
		err = fmt.Errorf("%w: it has %d bytes, want at most %d", err, len(data), q.js.Conn().MaxPayload()-headerOf(id))
	}
	if err != nil {
		return fmt.Errorf("natspool: cannot add a job to the stream %s: %w", q.conf.Stream, err)
	}
	return nil
}

// headerOf returns the size of a header with the ID. The server counts the header as a part of the
// data.
func headerOf(id string) int64 {
	if id == "" {
		return 0
	}
	return int64(len("NATS/1.0\r\n"+jetstream.MsgIDHeader+": \r\n\r\n") + len(id))
}

// A Snapshot has the numbers of jobs of a queue.
type Snapshot struct {
	Waiting int64 // jobs that were not delivered yet
	Held    int64 // jobs delivered and not acknowledged: they run, or will be delivered again
	Dead    int64 // dead letters
}

// Snapshot returns the state now. The server may need a moment until it counts a job that was just
// added.
func (q *Queue) Snapshot(ctx context.Context) (s Snapshot, err error) {
	ctx = cmp.Or(ctx, context.Background())
	consumer, err := q.consumer.Info(ctx)
	if err != nil {
		return s, fmt.Errorf("natspool: the state of the stream %s: %w", q.conf.Stream, err)
	}
	dead, err := q.dead.Info(ctx)
	if err != nil {
		return s, fmt.Errorf("natspool: the state of the dead letters of %s: %w", q.conf.Stream, err)
	}
	return Snapshot{
		Waiting: int64(consumer.NumPending), //nolint:gosec // both counts of messages
		Held:    int64(consumer.NumAckPending),
		Dead:    int64(dead.State.Msgs), //nolint:gosec // likewise
	}, nil
}

// jobOf reads a message.
func jobOf(m jetstream.Msg, meta *jetstream.MsgMetadata) Job {
	id := cmp.Or(m.Headers().Get(headID), m.Headers().Get(jetstream.MsgIDHeader))
	if id == "" {
		id = strconv.FormatUint(meta.Sequence.Stream, 10)
	}
	return Job{
		ID: id, Data: m.Data(), Header: m.Headers(), Subject: m.Subject(),
		Attempt: int(meta.NumDelivered), //nolint:gosec // a count of deliveries
	}
}
