package main

import (
	"io"
	"log/slog"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
)

// newLog returns the proxy's log, and its output, which writes to the standard error. The messages
// of net/http about upstreams go there too, a few messages a second.
func newLog(c config.Log, s streams) (*slog.Logger, *observe.Lines) {
	handler := func(to io.Writer) slog.Handler {
		if c.Format == "text" || c.Format == "auto" && isTerminal(s.err) {
			return slog.NewTextHandler(to, nil)
		}
		return slog.NewJSONHandler(to, &slog.HandlerOptions{ReplaceAttr: inSeconds})
	}
	lines := observe.NewLines(s.err, slog.New(handler(s.err)))
	log := slog.New(handler(lines))
	slog.SetDefault(slog.New(observe.RateLimited(log.Handler())))
	return log, lines
}

// inSeconds writes durations in seconds, as the access log does. The default of slog is
// nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key, a.Value.Duration().Seconds())
	}
	return a
}
