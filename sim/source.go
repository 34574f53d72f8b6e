package sim

import "time"

// A Source implements custom clients, whose requests replace Arrivals and Work: for example
// clients that ask again only after an answer. It is used from one goroutine. The limiter of
// a request is drawn as usual.
type Source interface {
	// Next returns the time of the next request, or [Never] if there is none before a
	// request in progress has ended. It must not be before the last time received.
	Next() time.Duration
	// Send removes the request of Next. Its At is not used, and its Class is the name of
	// the client that sends it.
	Send(now time.Duration) Arrival
	// Ended reports that a request was answered well, or was given up after its last
	// attempt. Its At is its arrival time.
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
