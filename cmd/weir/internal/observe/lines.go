package observe

import (
	"bytes"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

// mostLines is the number of lines that may wait: a pause of 100 ms at 40,000 requests a second.
const mostLines = 4096

// closing is how long Close waits for a reader of the log.
const closing = time.Second

// Lines is the output of a log. It writes the lines on a goroutine of its own, so that no request
// waits for a reader that is slow or stuck. A line that finds no room, or cannot be written, is
// dropped and counted.
type Lines struct {
	waiting chan []byte
	dropped atomic.Uint64
	over    chan struct{}
	ended   chan struct{}
}

// NewLines returns an output that writes the lines to another output. The logger own, which writes
// there too, reports the number of dropped lines.
func NewLines(to io.Writer, own *slog.Logger) *Lines {
	l := &Lines{waiting: make(chan []byte, mostLines), over: make(chan struct{}), ended: make(chan struct{})}
	go l.run(to, own)
	return l
}

// Write takes a line, and never waits.
func (l *Lines) Write(line []byte) (int, error) {
	select {
	case l.waiting <- bytes.Clone(line):
	default:
		l.dropped.Add(1)
	}
	return len(line), nil
}

// Dropped returns the number of dropped lines. A nil Lines has none.
func (l *Lines) Dropped() uint64 {
	if l == nil {
		return 0
	}
	return l.dropped.Load()
}

// Close writes the lines that wait. It gives up after a second.
func (l *Lines) Close() {
	close(l.over)
	select {
	case <-l.ended:
	case <-time.After(closing):
	}
}

func (l *Lines) run(to io.Writer, own *slog.Logger) {
	defer close(l.ended)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var reported uint64
	report := func() {
		if dropped := l.Dropped(); dropped > reported {
			own.Warn("lines of the log were dropped: its reader was too slow, or it could not be written", "lines", dropped-reported)
			reported = dropped
		}
	}
	for {
		select {
		case line := <-l.waiting:
			l.write(to, line)
		case <-second.C:
			report()
		case <-l.over:
			for range len(l.waiting) {
				l.write(to, <-l.waiting)
			}
			report()
			return
		}
	}
}

func (l *Lines) write(to io.Writer, line []byte) {
	if _, err := to.Write(line); err != nil {
		l.dropped.Add(1)
	}
}
