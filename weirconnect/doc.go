// Package weirconnect puts limiters in front of Connect servers ([LimitServer]) and Connect clients
// ([LimitClient]), by any of Connect's protocols.
//
//	limits := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
//	mux.Handle(cartv1connect.NewCartHandler(svc, limits.Option()))
//
// It is for Connect as package weirgrpc is for gRPC. The gate asks, before the message is
// read, whether the limiter of the procedure is full; the interceptor takes the slot. Only
// procedures that are registered come that far.
//
//   - The code of a call is its outcome: no error, and an answer that was not modified, are
//     successes; unknown, internal, unavailable and data_loss are failures, and so is a handler
//     that panics; deadline_exceeded is a timeout; resource_exhausted is an overload on a client and
//     nothing on a server; all else teaches nothing.
//   - A refusal is resource_exhausted with RetryInfo, which [RetryClient] honours and [RetryAfter]
//     reads, and in the gRPC protocols the trailer grpc-retry-pushback-ms. A closed limiter is
//     unavailable, a procedure that is no key for a bulkhead invalid_argument, and a call that
//     ended in the queue canceled or deadline_exceeded.
//   - No slot is held for the life of a stream: see [ServerConfig].
//   - A client sends the priority of its context on. A server believes it of the peers that it
//     trusts, by [weirhttp.Trust] around the mux, which knows the connection as an interceptor does
//     not. Deadlines Connect sends by itself.
//
// A message that is still being read holds no slot, so bound that time with the timeouts of
// [net/http.Server].
package weirconnect
