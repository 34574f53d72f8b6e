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

// A proxyLog is what the proxy writes: on a terminal figures, one line a second, and otherwise a
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

// inSeconds writes times as the access log does. slog's own are nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key, a.Value.Duration().Seconds())
	}
	return a
}

// onEvent takes the decisions of limiters for the figures, nil if they belong in the log.
func (l *proxyLog) onEvent() func(weir.Event) {
	if l.figures {
		return l.changes.Handle
	}
	return nil
}

// write writes what the proxy does until stop is called, and takes what net/http logs of upstreams.
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
