package exchange

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/weir-go/weir/internal/headers"
)

// pause is how long a body of unknown length is read before its request is sent on as a
// stream. A unary gRPC call sends its message with its header, so a longer body is a
// conversation or comes from a slow client. It delays a conversation once, at the beginning.
const pause = 50 * time.Millisecond

// takeIn reads the body ahead, within its bounds. The rest, if there is one, is streamed.
func (x *exchange) takeIn() (err error) {
	r, b := x.in, &x.body
	b.length, b.buf.memory, b.buf.request = r.ContentLength, &x.shared.memory, true
	b.trailer = maps.Clone(r.Trailer) // the server writes to the request's own map
	if x.route.config.GRPC != "" {
		b.converse()
	}
	most := int64(x.route.config.MaxBody)
	if most > 0 && r.ContentLength > most {
		b.failure = &http.MaxBytesError{Limit: most} // no goroutine reads the body, so net/http can read it before it answers
		return b.failure
	}
	b.rest = r.Body
	if most > 0 {
		b.rest = http.MaxBytesReader(nil, r.Body, most) // not x.w, which a transport must not change
	}
	// Without full duplex the server would wait for a read of the body before it writes a header.
	b.control = http.NewResponseController(x.w)
	_ = b.control.EnableFullDuplex()
	defer x.readUntilTheEnd()()
	if x.converses && r.Header["Expect"] != nil {
		b.streams = true // the upstream decides when the client may begin
		return nil
	}
	b.most = int64(x.Request)
	if x.converses {
		b.most++ // the end of a call that just fits follows its last byte
		b.streams, err = x.takeEarly()
	} else {
		b.streams, err = x.takeAll()
	}
	if err == nil && !b.streams && b.length < 0 {
		x.settleLength()
	}
	return err
}

// readUntilTheEnd ends the read of the client's body when the proxy ends. Call stop before the
// handler returns, because interrupt uses the writer.
func (x *exchange) readUntilTheEnd() (stop func()) {
	interrupted := make(chan struct{})
	cancel := context.AfterFunc(x.shared.life, func() {
		defer close(interrupted)
		x.interrupt()
	})
	return func() {
		if !cancel() {
			<-interrupted
		}
	}
}

// settleLength sets the length of a body that has been read whole. Trailers need chunks, and a
// conversation of gRPC has no length.
func (x *exchange) settleLength() {
	b := &x.body
	b.trailer = maps.Clone(x.in.Trailer) // including unannounced trailers
	if len(b.trailer) == 0 && (!x.converses || !headers.IsGRPC(x.in.Header)) {
		b.length = b.kept()
	}
}

// takeAll reads a body into memory and then into a file. The listener bounds stalls and the
// rate of the client.
func (x *exchange) takeAll() (stream bool, err error) {
	if err = x.body.fill(); err != nil || x.body.done {
		return false, err
	}
	return x.spool()
}

// takeEarly reads the body of a possible conversation for the time of a pause. If the body ends in
// that time, its length is known.
func (x *exchange) takeEarly() (stream bool, err error) {
	b := &x.body
	b.filling = true
	b.turn.Lock()
	filled := make(chan error, 1)
	go func() {
		defer b.turn.Unlock()
		filled <- b.fill()
	}()
	select {
	case err = <-filled:
	case <-time.After(x.shared.pause):
	case <-x.in.Context().Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = 0
	return !b.done, err
}

// fill reads the body into memory, until the body is whole, the buffer has most bytes, or no memory
// is free. The buffer grows as data arrives, so a client that only announces a body takes no
// memory.
func (b *intake) fill() (err error) {
	for room := b.room(); room != nil && err == nil; room = b.room() {
		var n int
		n, err = b.rest.Read(room)
		err = b.filled(n, err)
	}
	return err
}

func (b *intake) room() (room []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done && b.failure == nil && b.buf.size < b.most {
		room = b.buf.room()
	}
	b.filling = b.filling && room != nil
	return room
}

func (b *intake) filled(n int, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.filled(n)
	b.inMemory += int64(n)
	return b.came(err)
}

// came records the end of the client's body, or the error of a read. HTTP/2 sends the end after the
// last byte, so a body of known length ends before. came returns nil at the end, and errNotTaken if
// no transport takes more of the body. The lock is held, if other goroutines use the body.
func (b *intake) came(err error) error {
	b.asked = true
	switch {
	case errors.Is(err, io.EOF), b.kept() == b.length:
		b.done = true
		return nil
	case err != nil && b.over: // the client is not to blame
		return errNotTaken
	case err != nil:
		b.failure = err
	}
	return err
}

// kept returns the number of bytes that the proxy has read into memory and into the file.
func (b *intake) kept() int64 {
	if b.file == nil {
		return b.inMemory
	}
	return b.inMemory + b.file.size
}

// converse ends the minimum rate of the client, because it may now pause between messages.
func (b *intake) converse() {
	if paced, ok := b.client.Body.(interface{ Converse() }); ok {
		paced.Converse()
	}
}
