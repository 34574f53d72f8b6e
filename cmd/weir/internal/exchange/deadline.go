package exchange

import (
	"sync"
	"time"
)

// A deadline ends a request at its time, unless it is stopped before. The deadline of an upload
// begins anew with each piece that the client sends, since the client determines the duration of
// the upload.
type deadline struct {
	after time.Duration
	timer *time.Timer

	mu      sync.Mutex
	stopped bool
	client  bool // the upstream waits for the client
}

// newDeadline returns a deadline that calls end once its time has passed. The argument of end says
// whether the client is late, and not the upstream.
func newDeadline(after time.Duration, end func(client bool)) *deadline {
	d := &deadline{after: after}
	d.timer = time.AfterFunc(after, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.stopped {
			end(d.client)
		}
	})
	return d
}

// stop stops the deadline. It waits for a running call of end, because end uses the client's
// response writer, which panics once the handler of an HTTP/2 request has returned.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.timer.Stop()
}

// during calls a function that waits for more of the client's body. A deadline that passes in the
// call is the fault of the client. After the call the upstream has the whole time again.
func (d *deadline) during(read func()) {
	d.mu.Lock()
	d.client = true
	d.mu.Unlock()
	read()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.client = false
	if !d.stopped && d.timer.Stop() {
		d.timer.Reset(d.after)
	}
}
