package natsfleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/settings"
)

// A Config configures a [Store].
type Config struct {
	// Fleet names the fleet: 1 to 64 letters, digits, hyphens and underscores. The bucket is
	// weir_fleet_ and the name.
	Fleet string

	// Replicas is the number of servers that keep a bucket which New makes: 1 to 5. Defaults to 1.
	// With 3 the loss of a server does no harm.
	Replicas int
}

// A Store is a [fleet.Store]. Make one with [New]. It is safe for concurrent use.
type Store struct {
	conn    *nats.Conn
	bucket  jetstream.KeyValue
	deletes []jetstream.KVDeleteOpt
}

// marks is how long the mark of a deleted key stays. Without this limit, a bucket would keep the
// marks of all processes that have left.
const marks = 10 * time.Minute

// New returns a store. It uses a bucket that exists as it is, and otherwise makes the bucket. If
// you make the bucket yourself, set its LimitMarkerTTL, or it keeps the marks of all processes that
// have left. An error about a setting matches [weir.ErrConfig]; other errors come from NATS.
func New(ctx context.Context, js jetstream.JetStream, c Config) (*Store, error) {
	ctx = cmp.Or(ctx, context.Background())
	if err := cmp.Or(
		settings.Name(weir.ErrConfig, "natsfleet: Fleet", c.Fleet),
		settings.DefaultUpTo(weir.ErrConfig, "natsfleet: Replicas", &c.Replicas, 1, 5),
	); err != nil {
		return nil, err
	}
	name := "weir_fleet_" + c.Fleet
	bucket, err := js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		bucket, err = create(ctx, js, jetstream.KeyValueConfig{Bucket: name, Replicas: c.Replicas, LimitMarkerTTL: marks})
	}
	if err != nil {
		return nil, fmt.Errorf("natsfleet: cannot open the bucket %s: %w", name, err)
	}
	s := &Store{conn: js.Conn(), bucket: bucket}
	status, err := bucket.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("natsfleet: cannot read the state of the bucket %s: %w", name, err)
	}
	if status.LimitMarkerTTL() > 0 {
		s.deletes = []jetstream.KVDeleteOpt{jetstream.PurgeTTL(marks)}
	}
	return s, nil
}

// create makes a bucket. On servers before 2.11 the bucket keeps all marks.
func create(ctx context.Context, js jetstream.JetStream, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	bucket, err := js.CreateKeyValue(ctx, c)
	if errors.Is(err, jetstream.ErrLimitMarkerTTLNotSupported) {
		c.LimitMarkerTTL = 0
		return js.CreateKeyValue(ctx, c)
	}
	return bucket, err
}

// Write applies a write.
func (s *Store) Write(ctx context.Context, w fleet.Write) (err error) {
	ctx = cmp.Or(ctx, context.Background())
	switch {
	case w.Value == nil && w.Swap && w.Rev == 0: // there is no value to delete; NATS takes 0 for any revision
	case w.Value == nil && w.Swap:
		err = s.bucket.Purge(ctx, w.Key, append(s.deletes[:len(s.deletes):len(s.deletes)], jetstream.LastRevision(w.Rev))...)
	case w.Value == nil:
		err = s.bucket.Purge(ctx, w.Key, s.deletes...)
	case w.Swap && w.Rev == 0:
		_, err = s.bucket.Create(ctx, w.Key, w.Value)
	case w.Swap:
		_, err = s.bucket.Update(ctx, w.Key, w.Value, w.Rev)
	default:
		_, err = s.bucket.Put(ctx, w.Key, w.Value)
	}
	if isLate(err) {
		return nil
	}
	return err
}

// isLate reports whether another write came before a swap. Create returns another error for that
// than Update and Purge, and a cluster another code than a single server.
func isLate(err error) bool {
	return errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch)
}

// errWatch is the error of a watch that NATS ended, or whose connection was lost. NATS itself would
// go on, but only some twenty seconds after the connection is back.
var errWatch = errors.New("natsfleet: the connection was lost")

// look is the time between two checks of a watch whether its bucket still exists. NATS does not end
// the watch of a deleted bucket, and does not show the entries of a new bucket in its place.
const look = 5 * time.Second

// Watch shows the entries below a key, and each change. It returns when the connection is lost, and
// soon after the bucket was deleted.
func (s *Store) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	ctx = cmp.Or(ctx, context.Background())
	keys := []string{key, strings.TrimPrefix(key+".>", ".")}
	if key == "" {
		keys = keys[1:]
	}
	lost := s.conn.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	defer s.conn.RemoveStatusListener(lost)
	watcher, err := s.bucket.WatchFiltered(ctx, keys)
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Stop() }() // the subscription may be gone already
	made, err := s.made(ctx)
	if err != nil {
		return err
	}
	again := time.NewTicker(look)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-lost:
			return errWatch
		case <-again.C:
			now, err := s.made(ctx)
			if errors.Is(err, jetstream.ErrStreamNotFound) || err == nil && !now.Equal(made) {
				return errGone
			}
		case e, ok := <-watcher.Updates():
			if !ok {
				return errWatch
			}
			see(entryOf(e))
		}
	}
}

// errGone is the error of a watch whose bucket was deleted, and perhaps made again.
var errGone = errors.New("natsfleet: the bucket was deleted")

// made returns the time at which the bucket was made. Another time means that the bucket was
// deleted and made again.
func (s *Store) made(ctx context.Context) (time.Time, error) {
	within, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	status, err := s.bucket.Status(within)
	if err != nil {
		return time.Time{}, err
	}
	return status.(*jetstream.KeyValueBucketStatus).StreamInfo().Created, nil
}

// entryOf returns the zero Entry for nil, which NATS sends after the existing entries.
func entryOf(e jetstream.KeyValueEntry) fleet.Entry {
	switch {
	case e == nil:
		return fleet.Entry{}
	case e.Operation() != jetstream.KeyValuePut:
		return fleet.Entry{Key: e.Key()}
	}
	return fleet.Entry{Key: e.Key(), Value: e.Value(), Rev: e.Revision()}
}
