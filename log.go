package weir

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Log returns a handler for [Config].OnEvent that writes to logger. To keep the log short, it
// writes one line a second for each limiter, kind and reason of a refusal, with the number of
// events. A law may move the limit several times a second: the line has the limit before the first
// change and after the last change, and the reason of the last change. After 20 such lines, the
// other events of a second have a line for each kind and reason, without a limiter, because clients
// may invent the keys of a bulkhead. One handler may serve many limiters. With a nil logger, the
// handler writes each line to the slog.Default of that moment.
func Log(logger *slog.Logger) func(Event) {
	l := &eventLog{logger: logger, gathered: map[summary]*gathered{}}
	return l.handle
}

// summarizeEvery is how long events are gathered before they are written.
const summarizeEvery = time.Second

// mostSummaries is the number of lines a second that name a limiter.
const mostSummaries = 20

type eventLog struct {
	logger *slog.Logger // nil for the default

	mu       sync.Mutex
	gathered map[summary]*gathered // since the last line
}

// A summary is the key under which a line counts events.
type summary struct {
	limiter string
	kind    Kind
	reason  Reason // of a refusal
}

// gathered has the events of one line.
type gathered struct {
	count       int
	first, last Change
}

// handle counts an event. The first event after a write sets the time of the next write.
func (l *eventLog) handle(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.gathered) == 0 {
		time.AfterFunc(summarizeEvery, l.write)
	}
	s := summary{e.Limiter, e.Kind, e.Reason}
	if l.gathered[s] == nil && len(l.gathered) >= mostSummaries {
		s.limiter = ""
	}
	g := l.gathered[s]
	if g == nil {
		g = &gathered{first: e.Change}
		l.gathered[s] = g
	}
	g.count++
	g.last = e.Change
}

func (l *eventLog) write() {
	l.mu.Lock()
	all := l.gathered
	l.gathered = map[summary]*gathered{}
	l.mu.Unlock()
	logger := l.logger
	if logger == nil { // only now: a package variable is made before main sets the default
		logger = slog.Default()
	}
	for s, g := range all {
		s.write(logger, g)
	}
}

func (s summary) write(line *slog.Logger, g *gathered) {
	level := slog.LevelWarn
	if s.kind == LimitChanged || s.kind == LawReplaced {
		level = slog.LevelInfo
	}
	if s.limiter != "" {
		line = line.With("limiter", s.limiter)
		if level == slog.LevelInfo {
			line = line.With("from", g.first.From, "to", g.last.To, "reason", g.last.Reason.String())
		}
	}
	if s.reason != 0 {
		line = line.With("reason", s.reason.String())
	}
	line.Log(context.Background(), level, "weir: "+s.kind.String(), "count", g.count, "within", summarizeEvery)
}
