package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// perMessage is counted for each message besides its bytes: the queue's own memory.
const perMessage = 64

// sizeOf returns the bytes that a message takes in an outbox.
func sizeOf(message []byte) int { return len(message) + perMessage }

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
	memory   share // for messages that are queued or being sent, and for reserved room
	queue    [][]byte
	finished bool
	news     chan struct{} // closed at the next change; nil if nothing waits for it
}

// put waits for room for an answer. An empty outbox always accepts it. The error is
// errFinished or the cause of ctx.
func (o *outbox) put(ctx context.Context, message []byte) error {
	return o.wait(ctx, func() error {
		switch {
		case o.finished:
			return errFinished
		case !o.take(sizeOf(message), o.limit/4*3) && !o.force(sizeOf(message)):
			return errNotYet
		}
		o.append(message)
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
	err = o.wait(ctx, func() error {
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
		size += sizeOf(text)
	}
	if size > reserved && !o.memory.take(size-reserved) {
		o.give(reserved)
		return errNoMemory
	}
	o.give(max(reserved-size, 0))
	for _, text := range texts {
		o.append(text)
	}
	return nil
}

// offer queues a live event, and reports false if there is no room.
func (o *outbox) offer(message []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.finished:
		return true // the connection is ending anyway
	case !o.take(sizeOf(message), o.limit):
		return false
	}
	o.append(message)
	return true
}

// next waits for a message. Its room stays taken until release is called. It returns
// errFinished after the last message.
func (o *outbox) next(ctx context.Context) (message []byte, err error) {
	err = o.wait(ctx, func() error {
		switch {
		case len(o.queue) > 0:
			message = o.queue[0]
			o.queue = slices.Delete(o.queue, 0, 1)
			return nil
		case o.finished:
			return errFinished
		}
		o.queue = nil
		return errNotYet
	})
	return message, err
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
	o.wake()
}

// discard releases all room, at the end of the connection.
func (o *outbox) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished, o.queue = true, nil
	o.memory.discard()
}

// wait calls try under the lock until its error is not errNotYet, once more after each change.
func (o *outbox) wait(ctx context.Context, try func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ctx.Err() == nil {
		if err := try(); !errors.Is(err, errNotYet) {
			return err
		}
		if o.news == nil {
			o.news = make(chan struct{})
		}
		changed := o.news
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		o.mu.Lock()
	}
	return context.Cause(ctx)
}

// wake calls the waiting tries again.
func (o *outbox) wake() {
	if o.news != nil {
		close(o.news)
		o.news = nil
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
	o.wake()
}

// append appends a message. The caller has taken room for it.
func (o *outbox) append(message []byte) {
	o.queue = append(o.queue, message)
	o.wake()
}
