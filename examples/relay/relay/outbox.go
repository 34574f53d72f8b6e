package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A message is sent to a client in one frame.
type message struct {
	text  []byte // the whole message, or the part before the event
	event []byte // JSON of a live event, shared by all recipients; nil for none
}

// perMessage is counted for each message besides its bytes: the queue's own memory.
const perMessage = 64

func (m message) size() int { return len(m.text) + len(m.event) + perMessage }

// frame returns the bytes to send. It assembles a live event in the buffer.
func (m message) frame(buffer []byte) []byte {
	if m.event == nil {
		return m.text
	}
	buffer = append(append(buffer[:0], m.text...), m.event...)
	return append(buffer, ']')
}

var (
	// errFinished is returned by an outbox that accepts no more messages.
	errFinished = errors.New("relay: the connection is closing")
	// errNoMemory ends a query if there is no memory for its answer.
	errNoMemory = errors.New("relay: no memory for the answer")
)

// An outbox holds the messages waiting to be sent to a connection, up to a limit of bytes.
// Their bytes are taken from the connection's share of memory until they are sent. Answers
// to a client wait for room (put, reserve); a live event does not (offer). Slices of queries
// fill half of the limit and short answers a quarter more, so that queries which wait for
// the store delay neither an answer nor a live event.
type outbox struct {
	limit  int
	memory *share

	mu       sync.Mutex
	queue    []message
	bytes    int // queued, being sent, and reserved
	finished bool
	more     chan struct{} // wakes the writer: a message, or the end
	room     chan struct{} // closed after a message was sent
}

func newOutbox(limit int, memory *share) *outbox {
	return &outbox{limit: limit, memory: memory, more: make(chan struct{}, 1), room: make(chan struct{})}
}

// put waits for room for an answer. An empty outbox always accepts it. The error is
// errFinished or the cause of ctx.
func (o *outbox) put(ctx context.Context, m message) error {
	return o.wait(ctx, func() bool {
		if !o.take(m.size(), o.limit/4*3) && !o.force(m.size()) {
			return false
		}
		o.append(m)
		return true
	})
}

// leastSlice is the number of bytes of events that a query reads at a time when there is no
// memory. It fits in a connection's own bytes.
const leastSlice = ownOutbox / 2

// reserve waits for room for a slice of a query, before the slice is read, and returns the
// reserved bytes: sliceBytes, or leastSlice in an empty outbox when there is no memory for
// more. The caller passes them to fill or unreserve.
func (o *outbox) reserve(ctx context.Context) (bytes int, err error) {
	err = o.wait(ctx, func() bool {
		if bytes = min(sliceBytes, o.limit/2); o.take(bytes, o.limit/2) {
			return true
		}
		bytes = min(bytes, leastSlice)
		return o.force(bytes)
	})
	return bytes, err
}

// fill queues the events of a slice in place of their reservation. They may exceed it by an
// event; if there is no memory for that, the error is errNoMemory.
func (o *outbox) fill(texts [][]byte, reserved int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := 0
	for _, text := range texts {
		size += message{text: text}.size()
	}
	if size > reserved && !o.memory.take(size-reserved) {
		o.give(reserved)
		return errNoMemory
	}
	o.bytes += max(size-reserved, 0)
	o.give(max(reserved-size, 0))
	for _, text := range texts {
		o.append(message{text: text})
	}
	return nil
}

// unreserve releases the reservation of a slice that could not be read.
func (o *outbox) unreserve(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.give(bytes)
}

// offer queues a live event, and reports false if there is no room.
func (o *outbox) offer(m message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.finished:
		return true // the connection is ending anyway
	case o.bytes > 0 && o.bytes+m.size() > o.limit, !o.memory.take(m.size()):
		return false
	}
	o.bytes += m.size()
	o.append(m)
	return true
}

// wait calls try until it succeeds, each time after room was freed.
func (o *outbox) wait(ctx context.Context, try func() bool) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		room, err := o.attempt(try)
		if room == nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// attempt calls try once. If that fails, it returns a channel that is closed when room is
// freed.
func (o *outbox) attempt(try func() bool) (room <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.finished:
		return nil, errFinished
	case try():
		return nil, nil
	}
	return o.room, nil
}

// take takes room for an answer, if it fits below the bound and there is memory.
func (o *outbox) take(bytes, bound int) bool {
	if o.bytes > 0 && o.bytes+bytes > bound || !o.memory.take(bytes) {
		return false
	}
	o.bytes += bytes
	return true
}

// force takes room in an empty outbox, or no connection would receive anything once the
// memory is full.
func (o *outbox) force(bytes int) bool {
	if o.bytes > 0 {
		return false
	}
	o.memory.force(bytes)
	o.bytes = bytes
	return true
}

// give releases room and wakes the callers that wait for it.
func (o *outbox) give(bytes int) {
	if bytes == 0 {
		return
	}
	o.bytes -= bytes
	o.memory.give(bytes)
	close(o.room)
	o.room = make(chan struct{})
}

// append appends a message. The caller has taken room for it.
func (o *outbox) append(m message) {
	o.queue = append(o.queue, m)
	o.tell()
}

// next waits for a message. Its room stays taken until sent is called. It returns
// errFinished after the last message.
func (o *outbox) next(ctx context.Context) (message, error) {
	for {
		m, ok, finished := o.first()
		switch {
		case ok:
			return m, nil
		case finished:
			return message{}, errFinished
		}
		select {
		case <-o.more:
		case <-ctx.Done():
			return message{}, context.Cause(ctx)
		}
	}
}

func (o *outbox) first() (m message, ok, finished bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue = nil
		return m, false, o.finished
	}
	m = o.queue[0]
	o.queue = slices.Delete(o.queue, 0, 1)
	return m, true, false
}

// sent releases the room of a message.
func (o *outbox) sent(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.give(m.size())
}

// finish lets the writer end after the last message.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	o.tell()
}

// discard releases all room, at the end of the connection.
func (o *outbox) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished, o.queue = true, nil
	o.give(o.bytes)
}

func (o *outbox) tell() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}
