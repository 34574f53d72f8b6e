// Package weirconnect puts limiters in front of Connect servers ([LimitServer]) and Connect clients
// ([LimitClient]), by any of Connect's protocols.
//
//	limits := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
//	mux.Handle(cartv1connect.NewCartHandler(svc, limits.Option()))
//
// It corresponds to package weirgrpc. Before the message is read, the gate refuses a call if the
// limiter of its procedure is full. The interceptor takes the slot. Only calls of registered
// procedures reach the limiter.
//
//   - The code of a call is its outcome: no error, and an answer that was not modified, are
//     successes; unknown, internal, unavailable and data_loss are failures, and so is a handler
//     that panics; deadline_exceeded is a timeout; resource_exhausted is an overload on a client,
//     and teaches a server nothing; canceled, and any call whose caller left, is abandoned; all
//     other codes teach nothing.
//   - A refusal is resource_exhausted with RetryInfo, which [RetryClient] honours and [RetryAfter]
//     reads, and in the gRPC protocols the trailer grpc-retry-pushback-ms. A closed limiter is
//     unavailable, a procedure that is no key for a bulkhead invalid_argument, and a call that
//     ended in the queue canceled or deadline_exceeded.
//   - No slot is held for the life of a stream: see [ServerConfig].
//   - A client sends the priority of its context. A server uses it only for trusted peers, by
//     [weirhttp.Trust] around the mux: an interceptor does not know the connection. Connect itself
//     sends deadlines.
//   - A request with a priority, or of a retry, has a header of its own. Interceptors after those of
//     this package then get a [connect.AnyRequest] that is no [connect.Request].
//
// A message that is still being read holds no slot, so bound that time with the timeouts of
// [net/http.Server].
package weirconnect
