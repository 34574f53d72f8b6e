package observe

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A stuck output waits for its reader before each line.
type stuck struct {
	bytes.Buffer
	reader chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.reader
	return s.Buffer.Write(p)
}

func TestLinesThatFindNoRoomAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &stuck{reader: make(chan struct{})}
		l := NewLines(to, slog.New(slog.NewTextHandler(to, nil)))
		l.Write([]byte("first\n"))
		synctest.Wait() // it is with the output
		for range mostLines + 7 {
			l.Write([]byte("line\n"))
		}
		if got := l.Dropped(); got != 7 {
			t.Errorf("%d lines were dropped, want 7", got)
		}
		close(to.reader)
		time.Sleep(2 * time.Second)
		l.Close()
		if got := strings.Count(to.String(), "line\n"); got != mostLines || !strings.HasPrefix(to.String(), "first\n") {
			t.Errorf("%d lines were written, want %d after the first", got, mostLines)
		}
		if got := strings.Count(to.String(), "lines=7"); got != 1 {
			t.Errorf("the dropped lines were reported %d times, want 1", got)
		}
	})
}

// So are those that cannot be written, as on a full disk.
func TestLinesThatCannotBeWrittenAreCounted(t *testing.T) {
	read, write := io.Pipe()
	read.Close()
	l := NewLines(write, slog.New(slog.DiscardHandler))
	l.Write([]byte("line\n"))
	if l.Close(); l.Dropped() != 1 {
		t.Errorf("%d lines were dropped, want 1", l.Dropped())
	}
}

func TestLastLinesAreWritten(t *testing.T) {
	var to bytes.Buffer
	l := NewLines(&to, slog.New(slog.DiscardHandler))
	for range 100 {
		l.Write([]byte("line\n"))
	}
	l.Close()
	if got := strings.Count(to.String(), "line\n"); got != 100 {
		t.Errorf("%d lines were written, want 100", got)
	}
}

func TestCloseDoesNotWaitForAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &stuck{reader: make(chan struct{})}
		defer close(to.reader)
		l := NewLines(to, slog.New(slog.DiscardHandler))
		l.Write([]byte("line\n"))
		begun := time.Now()
		if l.Close(); time.Since(begun) != closing {
			t.Errorf("took %v, want %v", time.Since(begun), closing)
		}
	})
}
