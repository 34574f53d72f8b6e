// Package slot manages the slot that a request of HTTP holds, on a server and in the proxy. A slot
// is in one of four states:
//
//	Waiting   the request holds nothing yet
//	Held      the request holds a slot of its gate, whose law learns its latency
//	Stream    the request holds a slot of the streams, whose duration no law learns
//	Closed    the request holds nothing any more
//
// A request begins Held or as a Stream. A response that its client may read slowly turns Held
// into Stream. Both end Closed.
package slot
