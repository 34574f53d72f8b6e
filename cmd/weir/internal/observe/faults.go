package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Faults collect the failures of upstreams, so that an outage logs one line a second however
// many requests it hits. The zero Faults is ready. It is safe for concurrent use.
type Faults struct {
	mu    sync.Mutex
	count int
	last  error
}

// Add counts a failure.
func (f *Faults) Add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.last = err
}

// Write adds a failure that was logged instead of returned, as by [http.Transport].
func (f *Faults) Write(line []byte) (int, error) {
	f.Add(errors.New(strings.TrimSpace(string(line))))
	return len(line), nil
}

// take returns a sentence about the failures since the last call, "" without failures.
func (f *Faults) take() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	count, last := f.count, f.last
	f.count, f.last = 0, nil
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("failures: %d, last: %s", count, strings.Map(visible, last.Error()))
}

// visible replaces characters that would move the cursor of a terminal, because an upstream
// chooses part of the text.
func visible(r rune) rune {
	switch {
	case unicode.IsPrint(r):
		return r
	case r == '\n': // between joined errors
		return ' '
	}
	return unicode.ReplacementChar
}

// Log writes the sentence to log, at most once a second, until ctx ends.
func (f *Faults) Log(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if fault := f.take(); fault != "" {
				log.WarnContext(ctx, fault)
			}
		}
	}
}
