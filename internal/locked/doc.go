// Package locked has a buffer for tests in which one goroutine writes and another reads.
package locked

import (
	"bytes"
	"sync"
)

// A Buffer keeps the bytes written to it. The zero value is empty and ready for use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
