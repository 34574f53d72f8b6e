package weir

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Log returns a handler for [Config].OnEvent that writes to logger and does not flood it: one line
// a second for each limiter, kind and reason of a refusal, with the number of events. A law at work
// moves the limit several times a second: the line has the limit before the first change and after
// the last one, and the reason of the last one. Above 20 lines the rest of a second is in a line
// for each kind and reason, with no limiter: clients may invent the keys of a bulkhead. One handler
// may serve many limiters. A nil logger is slog.Default, as it is when the line is written.
func Log(logger *slog.Logger) func(Event) {
	l := &eventLog{logger: logger, gathered: map[summary]*gathered{}}
	return l.handle
}

// summarizeEvery is how long events are gathered before they are written.
const summarizeEvery = time.Second

// mostSummaries is how many lines a second name a limiter.
const mostSummaries = 20

type eventLog struct {
	logger *slog.Logger // nil for the default

	mu       sync.Mutex
	gathered map[summary]*gathered // since the last line
}

// A summary is the key that a line counts.
type summary struct {
	limiter string
	kind    Kind
	reason  Reason // of a refusal
}

// gathered is the events of one line.
type gathered struct {
	count       int
	first, last Change
}

// handle counts an event; the first one sets the time of the lines.
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
