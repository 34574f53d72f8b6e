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

// Faults gather the failures of upstreams, so that an outage is one line a second however many
// requests it hits. The zero Faults is ready. It is safe for concurrent use.
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

// Write adds a failure that was logged, not returned, as some of [http.Transport] are.
func (f *Faults) Write(line []byte) (int, error) {
	f.Add(errors.New(strings.TrimSpace(string(line))))
	return len(line), nil
}

// take returns a sentence about the failures since the last call, "" if there were none.
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

// visible replaces what would move the cursor of a terminal: an upstream chooses some of the words.
func visible(r rune) rune {
	switch {
	case unicode.IsPrint(r):
		return r
	case r == '\n': // between errors that were joined
		return ' '
	}
	return unicode.ReplacementChar
}

// Log writes the sentence to log, at most once a second, until ctx ends: what [PrintFigures] does
// on a terminal.
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
