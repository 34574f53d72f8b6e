package exchange

import (
	"net/http"
	"time"
)

// linger is how long a client may keep sending a body after its response: net/http waits as
// long before it closes such a connection, because a reset would overtake the response.
const linger = 500 * time.Millisecond

// hangUp closes the connection after the response if the body was not read to its end,
// because the rest must not be read as another request: with full duplex, net/http leaves
// that to the handler. HTTP/2 frames bodies.
func (x *exchange) hangUp() {
	if x.body.ahead != nil && x.in.ProtoMajor == 1 && x.body.isUnfinished() {
		x.w.Header().Set("Connection", "close")
	}
}

// interrupt ends the current read of the body, which the server would otherwise wait for
// before it answers.
func (x *exchange) interrupt(after time.Duration) {
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(after))
}

// endRequest ends the reading of the client's body.
func (x *exchange) endRequest() {
	if x.body.ahead != nil {
		switch {
		case !x.body.isUnfinished():
			x.body.ahead.stop()
		case x.returned && x.in.ProtoMajor == 1:
			_ = http.NewResponseController(x.w).Flush()
			x.body.ahead.drop()
			// Without a deadline: the listener extends it for a client that sends data.
			over := time.AfterFunc(linger, x.stopReading)
			defer over.Stop()
		default:
			x.stopReading()
		}
	}
	x.body.close()
}

// stopReading ends the reading of the client's body, including the current read.
func (x *exchange) stopReading() {
	x.body.ahead.stop()
	x.interrupt(-time.Second)
}
