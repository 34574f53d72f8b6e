package main

import (
	"context"
	"log"
	"log/slog"
	"sync"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
)

// A proxyLog is the proxy's log on the standard error.
type proxyLog struct {
	*slog.Logger
	faults observe.Faults
}

func newProxyLog(c config.Log, s streams) *proxyLog {
	var handler slog.Handler
	switch {
	case c.Format == "text", c.Format == "auto" && isTerminal(s.err):
		handler = slog.NewTextHandler(s.err, nil)
	default:
		handler = slog.NewJSONHandler(s.err, &slog.HandlerOptions{ReplaceAttr: inSeconds})
	}
	return &proxyLog{Logger: slog.New(handler)}
}

// inSeconds writes durations in seconds, as the access log does. The default of slog is
// nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key, a.Value.Duration().Seconds())
	}
	return a
}

// write logs the failures of upstreams until stop is called, net/http's messages about them too.
func (l *proxyLog) write() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	before, flags := log.Writer(), log.Flags()
	log.SetOutput(&l.faults)
	log.SetFlags(0)
	var writing sync.WaitGroup
	writing.Go(func() { l.faults.Log(ctx, l.Logger) })
	return func() {
		cancel()
		writing.Wait()
		log.SetOutput(before)
		log.SetFlags(flags)
	}
}
