package weir

import (
	"log/slog"
	"sync"
	"time"
)

// Log returns a handler for [Config].OnEvent that writes to logger and does not flood it: changes
// of the limit are written as they come, anything else as one line a second for each limiter, kind
// and reason. Above 20 lines the rest of a second is in a line for each kind and reason, with no
// limiter: clients may invent the keys of a bulkhead. One handler may serve many limiters. A nil
// logger is slog.Default.
func Log(logger *slog.Logger) func(Event) {
	if logger == nil {
		logger = slog.Default()
	}
	l := &eventLog{logger: logger, gathered: map[summary]int{}}
	return l.handle
}

// summarizeEvery is how long events are gathered before they are written.
const summarizeEvery = time.Second

// mostSummaries is how many lines a second name a limiter.
const mostSummaries = 20

type eventLog struct {
	logger *slog.Logger

	mu       sync.Mutex
	gathered map[summary]int // since the last line
}

// A summary is the key that a line counts.
type summary struct {
	limiter string
	kind    Kind
	reason  Reason
}

func (l *eventLog) handle(e Event) {
	switch e.Kind {
	case LimitChanged, LawReplaced:
		l.logger.Info("weir: "+e.Kind.String(), "limiter", e.Limiter,
			"from", e.Change.From, "to", e.Change.To, "reason", e.Change.Reason.String(), "seq", e.Seq)
	default:
		l.gather(summary{e.Limiter, e.Kind, e.Reason})
	}
}

// gather counts an event; the first one sets the time of the lines.
func (l *eventLog) gather(s summary) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.gathered) == 0 {
		time.AfterFunc(summarizeEvery, l.write)
	}
	if l.gathered[s] == 0 && len(l.gathered) >= mostSummaries {
		s.limiter = ""
	}
	l.gathered[s]++
}

func (l *eventLog) write() {
	l.mu.Lock()
	gathered := l.gathered
	l.gathered = map[summary]int{}
	l.mu.Unlock()
	for s, n := range gathered {
		line := l.logger
		if s.limiter != "" {
			line = line.With("limiter", s.limiter)
		}
		if s.reason != 0 {
			line = line.With("reason", s.reason.String())
		}
		line.Warn("weir: "+s.kind.String(), "count", n, "within", summarizeEvery)
	}
}
