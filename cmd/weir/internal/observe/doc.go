// Package observe writes down what happens to requests: an access log, spans, and figures on a
// terminal.
//
// [New] stands within client.New, which says who asks, and outside of all that serves. The layers
// below fill in the client.Record of the request.
//
// # Access log
//
// One line for each request, as slog has it:
//
//	client, method, host, path   who asked for what; the query is left out, because it can have secrets
//	route, compartment           where it went
//	status, bytes                the response; a status of 0 is a connection that was cut before it
//	duration, wait               in seconds: all of it, and the part in the queue
//	upstream                     the address that answered
//	refused                      why Weir refused it
//	request_id, trace_id         to find it elsewhere
//
// What has no value is left out. What a client chooses is cut at a length, and control characters
// are escaped: a request cannot write a line of its own.
package observe
