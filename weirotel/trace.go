package weirotel

import (
	"context"
	"errors"
	"strings"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Traced adds events with these names to a span.
const (
	EventRefused = "weir.refused" // work was refused
	EventQueued  = "weir.queued"  // work waited and was admitted
	EventLeft    = "weir.left"    // the context ended before the work was admitted
)

// The events have these attributes, and error.type for the reason of a refusal.
const (
	attributeName       = "weir.limiter.name"
	attributeRetryAfter = "weir.retry_after" // in seconds
	attributeWait       = "weir.queue.wait"  // in seconds
)

// Traced returns an admitter that adds events to the span of the context. [EventRefused] has the
// limiter, the reason and the delay of a retry. [EventQueued] has the time of the wait. [EventLeft]
// marks work whose context ended first. Work that starts at once leaves no event. Without a
// recording span Traced costs a lookup in the context.
//
//	handler = weirhttp.Limit(handler, weirhttp.One(weirotel.Traced(lim)))
//
// A nil admitter, which exempts calls, stays nil: so Traced can wrap the
// admitter that weirhttp.ByRoute returns.
func Traced(next weir.Admitter) weir.Admitter {
	if edge.IsExempt(next) {
		return nil
	}
	return traced{next}
}

type traced struct{ next weir.Admitter }

// Acquire implements [weir.Admitter].
func (t traced) Acquire(ctx context.Context) (weir.Permit, error) {
	permit, err := t.next.Acquire(ctx)
	record(ctx, permit, err)
	return permit, err
}

func (t traced) AcquireN(ctx context.Context, weight int) (weir.Permit, error) {
	permit, err := weir.AcquireN(ctx, t.next, weight)
	record(ctx, permit, err)
	return permit, err
}

func (t traced) Full(ctx context.Context) error {
	err := weir.Full(ctx, t.next)
	record(ctx, weir.Permit{}, err)
	return err
}

// Snapshot returns the state of next for weirhttp, which lets uploads hold a part of its limit. It
// is zero if next has no Snapshot.
func (t traced) Snapshot() weir.Snapshot {
	if next, ok := t.next.(interface{ Snapshot() weir.Snapshot }); ok {
		return next.Snapshot()
	}
	return weir.Snapshot{}
}

// record adds the event of an answer to the span of ctx, if the span records.
func record(ctx context.Context, permit weir.Permit, err error) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	if err != nil {
		span.AddEvent(event(err))
	} else if wait := permit.Waited(); wait > 0 {
		span.AddEvent(EventQueued, trace.WithAttributes(attribute.Float64(attributeWait, wait.Seconds())))
	}
}

// valid repairs text that came from outside, such as the key of a set: invalid UTF-8 fails the
// export of all spans.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func event(err error) (string, trace.EventOption) {
	var refused *weir.RefusedError
	switch {
	case errors.As(err, &refused):
	case errors.Is(err, weir.ErrRefused):
		return EventRefused, trace.WithAttributes()
	default:
		return EventLeft, trace.WithAttributes()
	}
	attributes := []attribute.KeyValue{
		attribute.String(attributeName, valid(refused.Limiter)),
		attribute.String("error.type", refused.Reason.String()),
	}
	if refused.RetryAfter > 0 {
		attributes = append(attributes, attribute.Float64(attributeRetryAfter, refused.RetryAfter.Seconds()))
	}
	return EventRefused, trace.WithAttributes(attributes...)
}
