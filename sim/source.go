package sim

import "time"

// A Source is clients of your own, whose requests replace those of Arrivals and Work: for example
// clients that ask again only when they were answered. It is used from one goroutine. The limiter
// that a request asks is drawn as ever.
type Source interface {
	// Next returns when the next request comes, [Never] if none does before one
	// that is under way has ended. It must not be before the last time given.
	Next() time.Duration
	// Send takes out the request that Next was about. Its At is not used, and its Class
	// is the name of the client that sends it.
	Send(now time.Duration) Arrival
	// Ended reports that a request was answered well, or was given up after its last
	// attempt. Its At is when it came.
	Ended(now time.Duration, a Arrival, good bool)
}

// send takes the next request from the source.
func (t *traffic) send(now time.Duration) request {
	a := t.source.Send(now)
	return t.recorded(now, a)
}

// ended reports to the source, if there is one, that the request of an attempt has ended.
func (e *engine) ended(slot int32, good bool) {
	t := &e.traffic
	if t.source == nil {
		return
	}
	r := &e.attempts[slot].request
	ended := Arrival{At: r.at, Work: r.work, Class: e.scenario.Clients[r.client].Name, Deadline: r.slo}
	t.source.Ended(e.now, ended, good)
	t.advance()
}
