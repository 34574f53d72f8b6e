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

// The names of the events of a span.
const (
	EventRefused = "weir.refused" // work was refused
	EventQueued  = "weir.queued"  // work waited and was admitted
	EventLeft    = "weir.left"    // the context ended before the work was admitted
)

// Attributes of the events, besides error.type, which has the reason of a refusal.
const (
	attributeName       = "weir.limiter.name"
	attributeRetryAfter = "weir.retry_after" // in seconds
	attributeWait       = "weir.queue.wait"  // in seconds
)

// Traced returns a gate that adds the gate's actions to the span of the context: an event when work
// is refused, with the limiter, the reason and when to come back; when it waited, and for how long;
// and when its context ended first. Work that starts at once leaves no event. Without a span that
// records it costs a look at the context.
//
//	handler = weirhttp.Limit(handler, weirhttp.One(weirotel.Traced(lim)))
//
// A nil gate, which exempts calls, stays nil: so Traced can wrap what
// weirhttp.ByRoute returns.
func Traced(g edge.Gate) edge.Gate {
	if edge.IsExempt(g) {
		return nil
	}
	return traced{g}
}

type traced struct{ gate edge.Gate }

// Acquire implements [edge.Gate].
func (t traced) Acquire(ctx context.Context) (weir.Permit, error) {
	permit, err := t.gate.Acquire(ctx)
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return permit, err
	}
	if wait := permit.Waited(); err == nil && wait > 0 {
		span.AddEvent(EventQueued, trace.WithAttributes(attribute.Float64(attributeWait, wait.Seconds())))
	} else if err != nil {
		span.AddEvent(event(err))
	}
	return permit, err
}

// valid repairs text that came from outside, such as the key of a set: invalid UTF-8 fails the
// export of all spans.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// event is the event of an error.
func event(err error) (string, trace.EventOption) {
	var refused *weir.RefusedError
	if !errors.As(err, &refused) {
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
