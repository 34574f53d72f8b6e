package listen

import (
	"sync"
	"time"
)

// A pace finds out whether a client sends a body too slowly. It counts only the time in which the
// proxy waits for the client.
//
// The client is credited with the larger of two numbers: the bytes read from the body, and
// its share of the bytes that its connection received. A TLS record and an HTTP/2 frame have
// up to 16 KiB and are read whole: a client of 1 KB/s seems to send nothing for 16 s. The
// bodies that the proxy waits for share the bytes of an HTTP/2 connection, so a client needs
// the rate for each body.
type pace struct {
	conn *conn

	mu       sync.Mutex
	waiting  bool // for the client
	closed   bool
	slow     bool // the client was late
	rate     int64
	grace    time.Duration
	behind   arrears
	counted  time.Time // end of the wait counted so far
	received uint64    // by the connection until counted
	credited int64     // bytes credited to this wait
}

// begin begins a wait for the client. It reports false once the client was late.
func (p *pace) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	live := p.conn.listener.live.Load()
	if p.closed || p.slow || live.bodyRate <= 0 || live.bodyTimeout <= 0 {
		return !p.slow
	}
	p.rate, p.grace = live.bodyRate, live.bodyTimeout
	p.waiting, p.credited = true, 0
	p.conn.awaited.Add(1)
	p.counted, p.received = time.Now(), p.conn.received.Load()
	return true
}

// end ends a wait that returned the given bytes of the body.
func (p *pace) end(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.waiting {
		return
	}
	p.count()
	p.behind = p.behind.after(0, int64(bytes)-p.credited, p.rate)
	p.rest()
}

// close ends this wait and all later ones.
func (p *pace) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.waiting {
		p.rest()
	}
}

func (p *pace) rest() {
	p.waiting = false
	p.conn.awaited.Add(-1)
}

// late reports whether the client is too far behind the rate.
func (p *pace) late() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.waiting {
		return false
	}
	p.count()
	if p.behind > arrears(p.grace) {
		p.slow = true
		p.rest()
		p.conn.listener.counters.slow.Add(1)
	}
	return p.slow
}

// count adds the time since the last call to the wait. While other bodies keep the
// connection's window closed, the client cannot send, and the time does not count.
func (p *pace) count() {
	now, received := time.Now(), p.conn.received.Load()
	waited := now.Sub(p.counted)
	if p.conn.isStarved() {
		waited = 0
	}
	share := int64(received-p.received) / max(p.conn.awaited.Load(), 1)
	p.behind = p.behind.after(waited, share, p.rate)
	p.credited += share
	p.counted, p.received = now, received
}

// arrears is how far a client is behind the rate: the excess of the time it took over the
// time its bytes take at the rate. It is never negative, because otherwise a client that
// begins fast could buy hours with a megabyte.
type arrears time.Duration

// after returns the arrears after another wait, which returned the given bytes.
func (a arrears) after(waited time.Duration, bytes, rate int64) arrears {
	return max(0, a+arrears(waited-lasts(max(bytes, 0), rate)))
}

// lasts returns how long the bytes take at the rate, up to 136 years.
func lasts(bytes, rate int64) time.Duration {
	seconds := min(bytes/rate, 1<<32)
	return time.Duration(seconds)*time.Second + time.Duration(bytes%rate)*time.Second/time.Duration(rate)
}
