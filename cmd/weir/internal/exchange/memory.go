package exchange

import (
	"io"
	"sync"
	"sync/atomic"
)

// memory bounds the total size of all buffers.
type memory struct{ bound, used atomic.Int64 }

// take takes n bytes if at most the given number of eighths of the memory is then used. It reports
// whether it took them.
func (m *memory) take(n, eighths int64) bool {
	if m.used.Add(n) <= m.bound.Load()/8*eighths {
		return true
	}
	m.used.Add(-n)
	return false
}

func (m *memory) give(n int64) { m.used.Add(-n) }

// A chunk is a part of a buffer. Its bytes between from and to have not been read.
type chunk struct {
	next     *chunk
	from, to int
	bytes    []byte
}

// Chunks have these sizes. The first chunk of a buffer holds most bodies, and the bytes that
// net/http reads at a time. Each later chunk holds an HTTP/2 frame. So a client that sends a byte
// takes 4 KB, and a body of 64 KB takes five chunks.
const (
	firstChunk = 4 << 10
	nextChunk  = 16 << 10
)

// These numbers of eighths of the memory may be in use after a chunk is taken. Slow senders leave
// half of the memory to responses, and a quarter of the memory to the first chunks of other
// requests. Otherwise 4,000 stalled bodies of 60 KB would make every request be refused.
const (
	ofResponses = 8
	ofFirst     = 6 // chunks of requests
	ofNext      = 4
)

var firstChunks, nextChunks sync.Pool

func newChunk(pool *sync.Pool, size int) *chunk {
	if c, ok := pool.Get().(*chunk); ok {
		return c
	}
	return &chunk{bytes: make([]byte, size)}
}

// A buffer is a queue of bytes in memory. The zero buffer with a memory is empty. It is not
// safe for concurrent use.
type buffer struct {
	memory      *memory
	request     bool // holds the body of a request
	first, last *chunk
	size        int64 // unread bytes
}

// room returns free space to read into, or nil if the memory is used up.
func (b *buffer) room() []byte {
	if b.last != nil && b.last.to < len(b.last.bytes) {
		return b.last.bytes[b.last.to:]
	}
	pool, size, eighths := &nextChunks, nextChunk, int64(ofNext)
	if b.first == nil {
		pool, size, eighths = &firstChunks, firstChunk, ofFirst
	}
	if !b.request {
		eighths = ofResponses
	}
	if !b.memory.take(int64(size), eighths) {
		return nil
	}
	c := newChunk(pool, size)
	if b.first == nil {
		b.first = c
	} else {
		b.last.next = c
	}
	b.last = c
	return c.bytes
}

// filled marks n bytes of the room as filled.
func (b *buffer) filled(n int) {
	b.last.to += n
	b.size += int64(n)
}

func (b *buffer) read(p []byte) (n int) {
	for n < len(p) && b.size > 0 {
		c := b.first
		m := copy(p[n:], c.bytes[c.from:c.to])
		c.from += m
		b.size -= int64(m)
		n += m
		if c.from < len(c.bytes) {
			continue
		}
		if c == b.last { // kept, so that a buffer with a chunk can always proceed
			c.from, c.to = 0, 0
			continue
		}
		b.first = c.next
		b.give(c)
	}
	return n
}

// readAt copies the unread bytes from an offset on, and keeps their memory.
func (b *buffer) readAt(p []byte, offset int64) (n int) {
	for c := b.first; c != nil; c = c.next {
		unread := c.bytes[c.from:c.to]
		skip := min(offset, int64(len(unread)))
		n += copy(p[n:], unread[skip:])
		offset -= skip
	}
	return n
}

// WriteTo writes all unread bytes, and keeps their memory.
func (b *buffer) WriteTo(w io.Writer) (n int64, err error) {
	for c := b.first; c != nil && err == nil; c = c.next {
		var wrote int
		if c.from < c.to {
			wrote, err = w.Write(c.bytes[c.from:c.to])
		}
		n += int64(wrote)
	}
	return n, err
}

func (b *buffer) free() {
	for b.first != nil {
		c := b.first
		b.first = c.next
		b.give(c)
	}
	b.last, b.size = nil, 0
}

func (b *buffer) give(c *chunk) {
	pool := &nextChunks
	if len(c.bytes) == firstChunk {
		pool = &firstChunks
	}
	b.memory.give(int64(len(c.bytes)))
	c.next, c.from, c.to = nil, 0, 0
	pool.Put(c)
}
