package observe

import (
	"context"
	"log/slog"

	"github.com/weir-go/weir/cmd/weir/internal/spans"
)

// maxAttributes is the largest number of attributes of a line.
const maxAttributes = 15

// write writes the line of the request with the span s.
func (x *Response) write(ctx context.Context, s spans.Span, requestID string) {
	if x.access == nil || !x.access.Enabled(ctx, slog.LevelInfo) {
		return
	}
	l := make(line, 0, maxAttributes)
	l.text("client", s.Client)
	l.text("method", s.Method)
	l.text("host", s.Host)
	l.text("path", s.Path)
	l.text("route", s.Route)
	l.text("compartment", s.Compartment)
	l = append(l, slog.Int("status", s.Status), slog.Int64("bytes", x.bytes), slog.Float64("duration", s.End.Sub(s.Start).Seconds()))
	if s.Waited > 0 {
		l = append(l, slog.Float64("wait", s.Waited.Seconds()))
	}
	l.text("upstream", s.Upstream)
	if s.Refused != nil {
		l.text("limiter", s.Refused.Limiter)
		l.text("refused", s.Refused.Reason.String())
	}
	l.text("request_id", requestID)
	if s.Context.Trace != (spans.TraceID{}) {
		l.text("trace_id", s.Context.Trace.String())
	}
	record := slog.NewRecord(s.End, slog.LevelInfo, "request", 0) // Logger.LogAttrs would look up its caller, which is this line
	record.AddAttrs(l...)
	_ = x.access.Handler().Handle(ctx, record)
}

type line []slog.Attr

// text adds an attribute unless it is empty.
func (l *line) text(key, value string) {
	if value != "" {
		*l = append(*l, slog.String(key, value))
	}
}
