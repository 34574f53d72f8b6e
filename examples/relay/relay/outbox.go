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
	// errNotYet lets a caller of wait wait.
	errNotYet = errors.New("relay: not yet")
)

// An outbox holds the messages waiting to be sent to a connection, up to a limit of bytes.
// Their bytes are taken from the connection's share of memory until they are sent. Answers
// to a client wait for room (put, reserve); a live event does not (offer). Slices of queries
// fill half of the limit and short answers a quarter more, so that queries which wait for
// the store delay neither an answer nor a live event.
type outbox struct {
	limit int

	mu       sync.Mutex
	memory   share // for what is queued, being sent, and reserved
	queue    []message
	finished bool
	more     chan struct{} // closed when a message came, or the end; nil if nothing waits for it
	room     chan struct{} // closed when room was freed; nil if nothing waits for it
}

// put waits for room for an answer. An empty outbox always accepts it. The error is
// errFinished or the cause of ctx.
func (o *outbox) put(ctx context.Context, m message) error {
	return o.wait(ctx, &o.room, func() error {
		switch {
		case o.finished:
			return errFinished
		case !o.take(m.size(), o.limit/4*3) && !o.force(m.size()):
			return errNotYet
		}
		o.append(m)
		return nil
	})
}

// leastSlice is the number of bytes of events that a query reads at a time when there is no
// memory. It fits in a connection's own bytes.
const leastSlice = ownOutbox / 2

// reserve waits for room for a slice of a query, before the slice is read, and returns the
// reserved bytes: sliceBytes, or leastSlice in an empty outbox when there is no memory for
// more. The caller passes them to fill or release.
func (o *outbox) reserve(ctx context.Context) (bytes int, err error) {
	err = o.wait(ctx, &o.room, func() error {
		if o.finished {
			return errFinished
		}
		if bytes = min(sliceBytes, o.limit/2); o.take(bytes, o.limit/2) {
			return nil
		}
		if bytes = min(bytes, leastSlice); o.force(bytes) {
			return nil
		}
		return errNotYet
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
	o.give(max(reserved-size, 0))
	for _, text := range texts {
		o.append(message{text: text})
	}
	return nil
}

// offer queues a live event, and reports false if there is no room.
func (o *outbox) offer(m message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.finished:
		return true // the connection is ending anyway
	case !o.take(m.size(), o.limit):
		return false
	}
	o.append(m)
	return true
}

// next waits for a message. Its room stays taken until release is called. It returns
// errFinished after the last message.
func (o *outbox) next(ctx context.Context) (m message, err error) {
	err = o.wait(ctx, &o.more, func() error {
		switch {
		case len(o.queue) > 0:
			m = o.queue[0]
			o.queue = slices.Delete(o.queue, 0, 1)
			return nil
		case o.finished:
			return errFinished
		}
		o.queue = nil
		return errNotYet
	})
	return m, err
}

// release gives back the room of a message that was sent, or of a slice that could not be read.
func (o *outbox) release(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.give(bytes)
}

// finish lets the writer end after the last message.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	wake(&o.more)
	wake(&o.room)
}

// discard releases all room, at the end of the connection.
func (o *outbox) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished, o.queue = true, nil
	o.memory.discard()
}

// wait calls try under the lock until its error is not errNotYet, once more after each notice.
func (o *outbox) wait(ctx context.Context, news *chan struct{}, try func() error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		came, err := o.attempt(news, try)
		if came == nil {
			return err
		}
		select {
		case <-came:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// attempt calls try once. If that is too early, it returns a channel that is closed at the next
// notice.
func (o *outbox) attempt(news *chan struct{}, try func() error) (came <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := try(); !errors.Is(err, errNotYet) {
		return nil, err
	}
	if *news == nil {
		*news = make(chan struct{})
	}
	return *news, nil
}

func wake(news *chan struct{}) {
	if *news != nil {
		close(*news)
		*news = nil
	}
}

// take takes room, if it fits below the bound and there is memory.
func (o *outbox) take(bytes, bound int) bool {
	return (o.memory.bytes == 0 || o.memory.bytes+bytes <= bound) && o.memory.take(bytes)
}

// force takes room in an empty outbox, or no connection would receive anything once the
// memory is full.
func (o *outbox) force(bytes int) bool {
	if o.memory.bytes > 0 {
		return false
	}
	o.memory.force(bytes)
	return true
}

// give releases room and wakes the callers that wait for it.
func (o *outbox) give(bytes int) {
	o.memory.give(bytes)
	wake(&o.room)
}

// append appends a message. The caller has taken room for it.
func (o *outbox) append(m message) {
	o.queue = append(o.queue, m)
	wake(&o.more)
}
