package weir

import (
	"log/slog"
	"sync"
	"time"
)

// Log returns a handler for [Config].OnEvent that writes to logger and does not
// flood it: changes of the limit are written as they come, refusals as one line
// a second for each limiter and reason. One handler may serve many limiters.
func Log(logger *slog.Logger) func(Event) {
	l := &eventLog{logger: logger, refusals: map[refusalKey]int{}}
	return l.handle
}

// summarizeEvery is how long refusals are gathered before they are written.
const summarizeEvery = time.Second

type eventLog struct {
	logger *slog.Logger

	mu       sync.Mutex
	refusals map[refusalKey]int // since the last summary
}

type refusalKey struct {
	limiter string
	kind    Kind
	reason  Reason
}

func (l *eventLog) handle(e Event) {
	switch e.Kind {
	case Refused, WouldRefuse:
		l.gather(refusalKey{e.Limiter, e.Kind, e.Reason})
	case LimitChanged, LawReplaced:
		l.logger.Info("weir: "+e.Kind.String(), "limiter", e.Limiter,
			"from", e.Change.From, "to", e.Change.To, "reason", e.Change.Reason.String(), "seq", e.Seq)
	default:
		l.logger.Warn("weir: permit "+e.Kind.String(), "limiter", e.Limiter, "seq", e.Seq)
	}
}

// gather counts a refusal; the first one sets the time of the summary.
func (l *eventLog) gather(key refusalKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.refusals) == 0 {
		time.AfterFunc(summarizeEvery, l.summarize)
	}
	l.refusals[key]++
}

func (l *eventLog) summarize() {
	l.mu.Lock()
	gathered := l.refusals
	l.refusals = map[refusalKey]int{}
	l.mu.Unlock()
	for key, n := range gathered {
		l.logger.Warn("weir: "+key.kind.String(), "limiter", key.limiter,
			"reason", key.reason.String(), "count", n, "within", summarizeEvery)
	}
}
