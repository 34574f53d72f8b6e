package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// faults collects the upstream's failures between two lines of figures, so that
// an outage is one line a second however many requests it hits.
type faults struct {
	mu    sync.Mutex
	count int
	last  error
}

func (f *faults) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.last = err
}

// Write adds a failure that was logged, not returned.
func (f *faults) Write(line []byte) (int, error) {
	f.add(errors.New(strings.TrimSpace(string(line))))
	return len(line), nil
}

// take returns a sentence about the failures since the last call, "" if there
// were none.
func (f *faults) take() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	count, last := f.count, f.last
	f.count, f.last = 0, nil
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("upstream failures: %d, last: %v", count, last)
}
