package main

import (
	"log/slog"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
)

// newLog returns the proxy's log on the standard error. The messages of net/http about upstreams
// go there too, a few a second.
func newLog(c config.Log, s streams) *slog.Logger {
	var handler slog.Handler
	switch {
	case c.Format == "text", c.Format == "auto" && isTerminal(s.err):
		handler = slog.NewTextHandler(s.err, nil)
	default:
		handler = slog.NewJSONHandler(s.err, &slog.HandlerOptions{ReplaceAttr: inSeconds})
	}
	slog.SetDefault(slog.New(observe.RateLimited(handler)))
	return slog.New(handler)
}

// inSeconds writes durations in seconds, as the access log does. The default of slog is
// nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key, a.Value.Duration().Seconds())
	}
	return a
}
