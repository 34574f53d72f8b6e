package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/examples/relay/protocol"
)

// An Import configures how [Server.Import] reads a source. The zero Import verifies, keeps
// no journal and stops at the first bad line.
type Import struct {
	Trusted    bool                // do not verify ids and signatures
	Journal    string              // path, as of bulk.Config
	Rejects    string              // path, as of bulk.Config
	OnProgress func(bulk.Snapshot) // called once a second
}

const (
	// importWorkers is the number of lines in progress at once: one half is written
	// while the other half is parsed and verified. More of them would only delay clients
	// in the queue for a processor.
	importWorkers = 2 * defaultWrites

	leastRetry, mostRetry = 10 * time.Millisecond, time.Second // after a refusal
)

// Import imports events, one JSON object a line. It shares the
// throttle, the verification and the memory of the server with its clients, which have
// precedence: an import has a low priority, and retries refused operations. Events of an
// import are not sent to subscriptions.
//
// It rejects a line that is not an event, an event that the relay does not keep, and an
// event that its author did not sign. An event that exists already or was replaced is not an
// error. Otherwise it behaves like bulk.Run.
func (s *Server) Import(ctx context.Context, source io.Reader, i Import) (bulk.Snapshot, error) {
	ctx = weir.WithPriority(weir.WithTenant(ctx, "import"), weir.PriorityLow)
	throttled := new(atomic.Int64)
	return bulk.Run(ctx, source, bulk.Config{
		Write: func(ctx context.Context, l bulk.Line) error {
			return s.importLine(ctx, l, i.Trusted, throttled)
		},
		Workers: importWorkers, MaxLine: s.conf.Limits.WithDefaults().Message,
		Memory: s.governor, Journal: i.Journal, Rejects: i.Rejects, Marks: s.conf.Marks, Sync: s.conf.Sync,
		OnProgress: s.progress(i.OnProgress, throttled),
	})
}

// progress adds the state of the throttle to the snapshots of bulk. importLine uses the
// throttle itself, so that it verifies an event before it takes a slot of the store.
func (s *Server) progress(tell func(bulk.Snapshot), throttled *atomic.Int64) func(bulk.Snapshot) {
	if tell == nil {
		return nil
	}
	return func(now bulk.Snapshot) {
		now.Load = max(now.Load, s.throttle.Snapshot().Writes.Load)
		now.Throttled = time.Duration(throttled.Load())
		tell(now)
	}
}

// importLine verifies and saves the event of a line.
func (s *Server) importLine(ctx context.Context, l bulk.Line, trusted bool, throttled *atomic.Int64) error {
	e, err := protocol.ParseEvent(l.Text, s.conf.Limits)
	if err != nil {
		return bulk.Reject(err)
	}
	if err := s.importable(&e); err != nil {
		return bulk.Reject(err)
	}
	if !trusted {
		err := insist(ctx, throttled, func() error { return s.verify(ctx, &e) })
		switch {
		case err != nil && ctx.Err() != nil:
			return err // the event is unknown
		case err != nil:
			return bulk.Reject(err)
		}
	}
	return insist(ctx, throttled, func() error {
		_, err := s.save(ctx, &e)
		return err
	})
}

func (s *Server) importable(e *nostr.Event) error {
	if e.IsEphemeral() {
		return protocol.Errorf(protocol.Invalid, "kind %d is ephemeral: it is not kept", e.Kind)
	}
	return s.conf.Limits.CheckTime(e, time.Now())
}

// insist retries a refused operation until the import stops.
func insist(ctx context.Context, waited *atomic.Int64, try func() error) error {
	for {
		err := try()
		if !errors.Is(err, weir.ErrRefused) || errors.Is(err, weir.ErrClosed) {
			return err
		}
		wait := leastRetry
		if refused := (*weir.RefusedError)(nil); errors.As(err, &refused) {
			wait = min(max(refused.RetryAfter, leastRetry), mostRetry)
		}
		waited.Add(int64(wait))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("relay: stopped while the store was busy: %w", context.Cause(ctx))
		}
	}
}
