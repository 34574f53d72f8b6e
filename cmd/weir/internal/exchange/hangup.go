package exchange

import (
	"net/http"
	"time"
)

// linger is how long a client may go on to send a body after it has its response: net/http waits as
// long before it closes such a connection, for a reset would overtake the response.
const linger = 500 * time.Millisecond

// hangUp has the connection be closed after the response if the body was not read to its end,
// because the rest must not pass for another request: with full duplex, net/http leaves that to the
// handler. HTTP/2 frames bodies.
func (x *exchange) hangUp() {
	if x.body.ahead != nil && x.in.ProtoMajor == 1 && x.body.isUnfinished() {
		x.w.Header().Set("Connection", "close")
	}
}

// interrupt ends a read of the body that is under way, which the server would wait for before it
// answers.
func (x *exchange) interrupt(after time.Duration) {
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(after))
}

// endRequest comes to the end of the client's body.
func (x *exchange) endRequest() {
	if x.body.ahead != nil {
		switch {
		case !x.body.isUnfinished():
			x.body.ahead.stop()
		case x.returned && x.in.ProtoMajor == 1:
			_ = http.NewResponseController(x.w).Flush()
			x.body.ahead.drop()
			// Not by a deadline: the listener gives a client that sends something a later one.
			over := time.AfterFunc(linger, x.stopReading)
			defer over.Stop()
		default:
			x.stopReading()
		}
	}
	x.body.close()
}

// stopReading ends the reading of the client's body, and the read that is under way.
func (x *exchange) stopReading() {
	x.body.ahead.stop()
	x.interrupt(-time.Second)
}
