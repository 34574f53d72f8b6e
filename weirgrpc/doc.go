// Package weirgrpc puts limiters in front of gRPC servers ([LimitServer]) and gRPC clients
// ([LimitClient]).
//
//	limits := weirgrpc.LimitServer(weirgrpc.Exempt(weirgrpc.One(lim), "grpc.health.v1.Health"), weirgrpc.ServerConfig{})
//	srv := grpc.NewServer(limits.Options()...)
//
// # The life of a call
//
// A call meets its limiter twice. The tap asks, before the message is read, whether the limiter is
// full; if it is, the call ends there, for a fraction of the price of its message. The interceptor
// takes the slot, waiting in the queue if there is one, and gives it back when the handler has
// returned. The code of a call is its outcome:
//
//   - OK is a success, and its latency is measured;
//   - UNKNOWN, which an error without a code becomes, INTERNAL, UNAVAILABLE and DATA_LOSS are
//     failures, and so is a handler that panics;
//   - DEADLINE_EXCEEDED is a timeout, and so is a deadline that passed whatever the handler
//     returned;
//   - RESOURCE_EXHAUSTED, and UNAVAILABLE with RetryInfo, is an overload on a client, for the server
//     refused it. On a server it teaches nothing, since a quota of one caller says nothing about
//     the server;
//   - all other codes teach nothing: the caller was wrong, and the refusal of a wrong call is fast.
//     Nor does a caller that left.
//
// To choose a limiter for each call, choose by method ([ByMethod]). An admitter of your own may
// choose by anything else that is in the context, such as the metadata.
//
// # Refusals
//
// A refusal is RESOURCE_EXHAUSTED with RetryInfo: how long the limiter needs to drain, spread at
// random. From an interceptor it has the trailer grpc-retry-pushback-ms too, which gRPC's own
// retries obey if their policy names RESOURCE_EXHAUSTED. A limiter that is closed is UNAVAILABLE,
// without a time, for clients then go to another server at once. A method that is no key for a
// bulkhead is INVALID_ARGUMENT. A call that ended in the queue is CANCELLED or DEADLINE_EXCEEDED.
// The message says why, not which limiter.
//
// A client with [RetryClient] comes back then, within a budget; one that retries by itself reads
// the time with [RetryAfter].
//
// # Streams
//
// How long a stream lives says nothing about load. A slot held for its life would be part of the
// limit without being work, so the limit would grow by it, and the oldest work in flight would seem
// stuck. So a stream is either admitted once, or its messages are admitted one by one: see
// [ServerConfig].
//
// # Priority and deadline
//
// A client sends the priority of its context on ([trust.Key]). A server believes it only if
// [ServerConfig].Trust says so of the connection: anybody can claim to be critical. Deadlines gRPC
// carries by itself. Any deadline ends a call and its wait, but only the deadline of a trusted
// peer shows the law how much time there is: by short ones, others could be limited. But
// [weir.Adaptive] serves the earliest deadline first, so use [weir.FIFO] for callers that may lie.
//
// # Order of interceptors
//
// From the outside in: logging, metrics and tracing, so that they see refusals; recovery from
// panics, so that the slot is given back before; whatever sets a priority or a tenant; these; then
// all that costs more than a refusal, such as validation. Of the tap's refusals the others see
// nothing; the limiter's snapshot and events do.
package weirgrpc
