// Package weirgrpc puts limiters in front of gRPC servers ([LimitServer]) and gRPC clients
// ([LimitClient]).
//
//	limits := weirgrpc.LimitServer(weirgrpc.Exempt(weirgrpc.One(lim), "grpc.health.v1.Health"), weirgrpc.ServerConfig{})
//	srv := grpc.NewServer(limits.Options()...)
//
// # The life of a call
//
// A call passes its limiter twice. The tap runs before the message is read. If the limiter is
// full, the call ends there, for a fraction of the price of its message. The interceptor takes the
// slot, after a wait in the queue if there is one, and gives it back when the handler has
// returned. The code of a call is its outcome:
//
//   - OK is a success, and its latency is measured;
//   - UNKNOWN, which an error without a code becomes, INTERNAL, UNAVAILABLE and DATA_LOSS are
//     failures, and so is a handler that panics;
//   - DEADLINE_EXCEEDED is a timeout, and so is a deadline that passed whatever the handler
//     returned;
//   - RESOURCE_EXHAUSTED, and UNAVAILABLE with RetryInfo, is an overload on a client, because the
//     server refused the call. On a server it teaches nothing, because a quota of one caller says
//     nothing about the server;
//   - CANCELLED is abandoned work, and so is a call whose caller left, whatever its code: its
//     latency is not measured;
//   - all other codes teach nothing: the caller was wrong, and the refusal of a wrong call is fast.
//
// To choose a limiter for each call, choose by method ([ByMethod]). An admitter of your own may
// choose by anything else that is in the context, such as the metadata.
//
// # Refusals
//
// A refusal is RESOURCE_EXHAUSTED with RetryInfo, which has the time that the limiter needs to
// drain, spread at random. From an interceptor it also has the trailer grpc-retry-pushback-ms,
// which gRPC's own retries obey if their policy names RESOURCE_EXHAUSTED. A closed limiter is
// UNAVAILABLE without a time, because clients then try another server at once. A method that is no
// key for a bulkhead is INVALID_ARGUMENT. A call that ended in the queue is CANCELLED or
// DEADLINE_EXCEEDED. The message has the reason, not the limiter.
//
// A client with [RetryClient] retries after that time, within a budget. A client that retries by
// itself reads the time with [RetryAfter].
//
// # Streams
//
// The duration of a stream says nothing about load. If a stream held a slot to its end, the limit
// would grow by that slot, and the oldest work in flight would seem to be stuck. So a stream is
// either admitted once, or its messages are admitted one by one: see [ServerConfig].
//
// # Priority and deadline
//
// A client sends the priority of its context ([trust.Key]). A server uses it only for connections
// that [ServerConfig].Trust trusts, because any client can claim to be critical. gRPC itself sends
// deadlines. Any deadline ends a call and its wait, but the law uses only the deadlines of trusted
// peers: by short deadlines, strangers could lower the limit for others. A queue with
// [weir.Adaptive] serves the earliest deadline first, so use [weir.FIFO] if callers may lie.
//
// # Order of interceptors
//
// From the outside in, a server has logging, metrics and tracing, so that they see refusals;
// recovery from panics, so that the slot is given back before; interceptors that set a priority or
// a tenant; the interceptors of this package; then work that costs more than a refusal, such as
// validation. Other interceptors do not see the tap's refusals, but the limiter's snapshot and
// events have them.
package weirgrpc
