// Package observe reports requests: in an access log and in spans.
//
// The layers that serve a request fill in the spans.Record of its identity.
//
// # Access log
//
// slog writes one line for each request:
//
//	client, method, host, path   the client and its request; without the query, which can contain secrets
//	route, compartment           its route
//	status, bytes                the response; a status of 0 is a connection that was cut before it
//	duration, wait               in seconds: the total, and the part in the queue of a request that left it for a slot
//	upstream                     the address that answered
//	limiter, refused             which limiter refused the request or its response, and why
//	request_id, trace_id         to find it elsewhere
//
// Attributes without a value are omitted. Values chosen by a client are cut to a maximum
// length, and control characters are escaped, so a request cannot forge a line.
package observe
