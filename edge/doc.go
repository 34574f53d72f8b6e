// Package edge has the shared code of adapters between limiters and a protocol: how a refusal
// becomes a status, when its client should come back, which calls are exempt, and which outcome the
// end of a call has. Package weirhttp is such an adapter; the modules weirgrpc and weirconnect have
// other adapters. Use edge to write an adapter of your own, for a message queue or a proxy.
//
// A server's adapter asks the [github.com/weir-go/weir.Admitter] of a call for a permit, unless the
// call is [IsExempt]. It answers a refusal with [HTTPStatus] or [GRPCCode] and the time of
// [RetryAfter]: in whole seconds, rounded up, in HTTP, and in milliseconds in the RetryInfo of
// gRPC. When the call is over, it finishes the permit with [ContextOutcome] if the call's context
// has ended, and otherwise with the outcome of the reply. A client's adapter uses [ErrorOutcome].
package edge
