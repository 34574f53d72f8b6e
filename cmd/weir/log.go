package main

import (
	"context"
	"log"
	"log/slog"
	"sync"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
	"github.com/weir-go/weir/cmd/weir/internal/proxy"
)

// A proxyLog is the proxy's output: on a terminal a line of figures each second, otherwise a
// log on the standard error.
type proxyLog struct {
	*slog.Logger
	figures bool
	faults  observe.Faults
	changes observe.Changes
}

func newProxyLog(c config.Log, s streams) *proxyLog {
	var handler slog.Handler
	switch {
	case c.Format == "text", c.Format == "auto" && isTerminal(s.out):
		handler = slog.NewTextHandler(s.err, nil)
	default:
		handler = slog.NewJSONHandler(s.err, &slog.HandlerOptions{ReplaceAttr: inSeconds})
	}
	return &proxyLog{Logger: slog.New(handler), figures: c.Format == "auto" && isTerminal(s.out)}
}

// inSeconds writes durations in seconds, as the access log does. The default of slog is
// nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key, a.Value.Duration().Seconds())
	}
	return a
}

// onEvent returns a handler that counts limiter decisions for the figures, or nil if
// decisions are logged.
func (l *proxyLog) onEvent() func(weir.Event) {
	if l.figures {
		return l.changes.Handle
	}
	return nil
}

// write reports on the proxy until stop is called. It also captures net/http's log messages
// about upstreams.
func (l *proxyLog) write(s streams, p *proxy.Proxy) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	before, flags := log.Writer(), log.Flags()
	log.SetOutput(&l.faults)
	log.SetFlags(0)
	var writing sync.WaitGroup
	writing.Go(func() {
		if l.figures {
			observe.PrintFigures(ctx, s.out, s.err, p.Meter(l.changes.String), &l.faults)
		} else {
			l.faults.Log(ctx, l.Logger)
		}
	})
	return func() {
		cancel()
		writing.Wait()
		log.SetOutput(before)
		log.SetFlags(flags)
	}
}
