package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A message is sent to a client in one frame.
type message struct {
	text  []byte // all of it, or the part before the event
	event []byte // JSON of a live event, shared by all who get it; nil for none
}

// perMessage is counted for each message besides its bytes: the queue's own memory.
const perMessage = 64

func (m message) size() int { return len(m.text) + len(m.event) + perMessage }

// frame is the sent text; the buffer is for a live event, which is put together.
func (m message) frame(buffer []byte) []byte {
	if m.event == nil {
		return m.text
	}
	buffer = append(append(buffer[:0], m.text...), m.event...)
	return append(buffer, ']')
}

var (
	// errFinished is why an outbox takes no more.
	errFinished = errors.New("relay: the connection is closing")
	// errNoMemory is why a query ends whose answer has no room in memory.
	errNoMemory = errors.New("relay: no memory for the answer")
)

// An outbox holds unsent messages of a connection, up to a limit of bytes, which are of the
// connection's share of memory until they are sent. What answers a client waits for room (put,
// reserve); a live event does not (offer). Slices of queries fill half of the limit and short
// answers a quarter more, so that queries which wait for the store hold up neither an answer nor a
// live event.
type outbox struct {
	limit  int
	memory *share

	mu       sync.Mutex
	queue    []message
	bytes    int // of the queue, of the frame being sent, and reserved
	finished bool
	more     chan struct{} // tells the writer: a message, or the end
	room     chan struct{} // closed when a message was sent
}

func newOutbox(limit int, memory *share) *outbox {
	return &outbox{limit: limit, memory: memory, more: make(chan struct{}, 1), room: make(chan struct{})}
}

// put waits for room for an answer. Into an empty outbox it goes in any case. The error is
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

// leastSlice is how many bytes of events a query reads at a time where there is no memory, which is
// within a connection's own.
const leastSlice = ownOutbox / 2

// reserve waits for room for a slice of a query, before it is read, and returns its bytes:
// sliceBytes, or leastSlice in an empty outbox where there is no memory for more. They are for
// fill, or for unreserve.
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

// fill sends the events of a slice, in place of its reservation. If that is more, by an
// event at most, and there is no memory for it, the error is errNoMemory.
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

// unreserve gives back the reservation of a slice that could not be read.
func (o *outbox) unreserve(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.give(bytes)
}

// offer reports false if there is no room.
func (o *outbox) offer(m message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.finished:
		return true // the connection ends anyway
	case o.bytes > 0 && o.bytes+m.size() > o.limit, !o.memory.take(m.size()):
		return false
	}
	o.bytes += m.size()
	o.append(m)
	return true
}

// wait tries until it succeeds, again whenever there is more room.
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

// attempt returns a channel to wait for if it does not succeed.
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

// take takes room for an answer, if there is enough of it below a bound, and of memory.
func (o *outbox) take(bytes, bound int) bool {
	if o.bytes > 0 && o.bytes+bytes > bound || !o.memory.take(bytes) {
		return false
	}
	o.bytes += bytes
	return true
}

// force takes room in an empty outbox, or no connection would hear anything once the memory is
// full.
func (o *outbox) force(bytes int) bool {
	if o.bytes > 0 {
		return false
	}
	o.memory.force(bytes)
	o.bytes = bytes
	return true
}

// give gives room back and tells those who wait for it.
func (o *outbox) give(bytes int) {
	if bytes == 0 {
		return
	}
	o.bytes -= bytes
	o.memory.give(bytes)
	close(o.room)
	o.room = make(chan struct{})
}

// append appends a message, for which room was taken.
func (o *outbox) append(m message) {
	o.queue = append(o.queue, m)
	o.tell()
}

// next waits for a message, whose room is taken until it was sent. It returns errFinished once all
// is taken.
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

// sent gives back the room of a message.
func (o *outbox) sent(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.give(m.size())
}

// finish lets the writer end once all is written.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	o.tell()
}

// discard gives back all room, at the end of the connection.
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
