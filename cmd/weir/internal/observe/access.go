package observe

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
)

// maxAttributes is the largest number of attributes of a line.
const maxAttributes = 14

func write(access *slog.Logger, r *http.Request, id *client.Identity, x *Response, ended time.Time) {
	ctx := r.Context()
	if !access.Enabled(ctx, slog.LevelInfo) {
		return
	}
	l := line{all: make([]slog.Attr, 0, maxAttributes)}
	l.text("client", addressOf(id))
	l.text("method", cut(r.Method, maxMethod))
	l.text("host", cut(id.Host, maxHost))
	l.text("path", cut(r.URL.EscapedPath(), maxPath))
	l.text("route", id.Record.Route)
	l.text("compartment", id.Record.Compartment)
	l.all = append(l.all, slog.Int("status", x.status), slog.Int64("bytes", x.bytes), slog.Float64("duration", ended.Sub(x.began).Seconds()))
	if wait := id.Record.Waited; wait > 0 {
		l.all = append(l.all, slog.Float64("wait", wait.Seconds()))
	}
	l.text("upstream", id.Record.Upstream)
	l.text("refused", id.Record.Refusal())
	l.text("request_id", id.RequestID)
	if id.Trace.Trace != (spans.TraceID{}) {
		l.text("trace_id", id.Trace.Trace.String())
	}
	record := slog.NewRecord(ended, slog.LevelInfo, "request", 0) // Logger.LogAttrs would look up its caller, which is this line
	record.AddAttrs(l.all...)
	_ = access.Handler().Handle(ctx, record)
}

type line struct{ all []slog.Attr }

// text adds an attribute unless it is empty.
func (l *line) text(key, value string) {
	if value != "" {
		l.all = append(l.all, slog.String(key, value))
	}
}
