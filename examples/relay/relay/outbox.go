package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A message is sent to a client in one frame.
type message struct {
	text  []byte // all of it, or what comes before the event
	event []byte // JSON of a live event, shared by all who get it; nil for none
}

// perMessage is counted for each message besides its bytes: the queue's own memory.
const perMessage = 64

func (m message) size() int { return len(m.text) + len(m.event) + perMessage }

func (m message) appendTo(b []byte) []byte {
	b = append(b, m.text...)
	if m.event != nil {
		b = append(b, m.event...)
		b = append(b, ']')
	}
	return b
}

// errFinished is why an outbox takes no more.
var errFinished = errors.New("relay: the connection is closing")

// An outbox holds what a connection has yet to be sent, up to a limit of bytes. What answers a client waits for room (put); a live event
// does not (offer). Answers fill half of the limit, so that a long query leaves room for live events.
type outbox struct {
	limit int

	mu       sync.Mutex
	queue    []message
	bytes    int
	finished bool
	more     chan struct{} // tells the writer: a message, or the end
	room     chan struct{} // closed when a message was taken
}

func newOutbox(limit int) *outbox {
	return &outbox{limit: limit, more: make(chan struct{}, 1), room: make(chan struct{})}
}

// put waits for room. A message goes into an empty outbox whatever its size. The error is errFinished or the cause of ctx.
func (o *outbox) put(ctx context.Context, m message) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		room, err := o.try(m, o.limit/2)
		if room == nil || err != nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// offer reports false if there is no room.
func (o *outbox) offer(m message) bool {
	room, _ := o.try(m, o.limit)
	return room == nil
}

// try appends a message, or returns what to wait for.
func (o *outbox) try(m message, limit int) (room <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.finished:
		return nil, errFinished
	case o.bytes > 0 && o.bytes+m.size() > limit:
		return o.room, nil
	}
	o.queue = append(o.queue, m)
	o.bytes += m.size()
	o.tell()
	return nil, nil
}

// take waits for a message. It returns errFinished once all is taken.
func (o *outbox) take(ctx context.Context) (message, error) {
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
	o.bytes -= m.size()
	close(o.room)
	o.room = make(chan struct{})
	return m, true, false
}

// finish lets the writer end once all is written.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	o.tell()
}

func (o *outbox) tell() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}
