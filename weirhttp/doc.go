// Package weirhttp puts limiters in front of HTTP handlers ([Limit]) and HTTP
// clients ([Transport]), and has clients retry within a budget ([RetryTransport]).
//
// # The idea
//
// A request takes a slot of its [Gate] before it runs and gives the slot back
// when it is over. What it gives back is also a measurement, so the package has
// to see how the request ended:
//
//   - a status below 400 is a success, and its latency is measured;
//   - 5xx is a failure, and so is a handler that panics or an error of the
//     transport; 504, a deadline that passed, or a transport's time-out, is a
//     timeout;
//   - 4xx teaches nothing: the caller was wrong, and being told so is fast. For
//     [Transport] only, 429 is a failure: it is the downstream asking this very
//     client for less, the one thing its limiter has to hear;
//   - a client that left teaches nothing, whatever became of its request.
//
// Use Limit where a server has to stay fast while more is asked of it than it
// can do, and Transport where a client must not ask a downstream for more than
// it can do. Both work out of the box with one limiter:
//
//	http.ListenAndServe(":8080", weirhttp.Limit(mux, weirhttp.One(lim)))
//	client := &http.Client{Transport: weirhttp.Transport(nil, weirhttp.One(lim))}
//
// To choose a limiter for each request, choose by route ([ByRoute]) or by downstream,
// never by raw path: clients invent paths, and each would come with a limiter.
//
// # Long-lived exchanges
//
// How long a connection stays open says nothing about load, so it is kept out
// of the latency:
//
//   - An upgraded connection (Hijack, or 101 on the client's side) gives its
//     slot back at once and teaches nothing. Limit its messages one by one with
//     the limiter's own Acquire, and cap connections apart.
//   - A stream of server-sent events (Content-Type: text/event-stream) keeps
//     its slot to the end, and is not measured if it succeeds. Give streams a
//     limiter of their own, or they fill the slots that short requests need.
//   - Flushing alone makes no stream: [net/http/httputil.ReverseProxy] flushes
//     every chunked response. Anything else that is slow by design, such as long
//     polling, belongs behind a limiter of its own, or none.
//
// All other latencies run from the slot to the end: until the handler returns,
// or until the client has read or closed the response's body. They include a
// peer that is slow to send or to read a large body; bound that with the
// timeouts of [net/http.Server] and [net/http.Client].
//
// # Order of middleware
//
// From the outside in:
//
//  1. logging, metrics and tracing, so that they see the refusals;
//  2. recovery from panics, so that Limit sees the panic;
//  3. whatever sets a priority with [weir.WithPriority]. No header is trusted
//     to do that by itself: [Trust] asks a function which requests may;
//  4. [net/http.TimeoutHandler], so that the slot is held for as long as the
//     work really runs;
//  5. Limit;
//  6. the mux, compression, and everything that costs more than a refusal.
//
// A client has, from the outside in, [RetryTransport], [Propagate], which tells the server of the
// priority, the time left and the attempt, and Transport.
//
// # Health checks
//
// Never shed them: a server that sheds is busy, not dead, and one that is
// killed for being busy leaves its load to the others. [Exempt] lets them pass.
// For the same reason do not fail readiness while shedding: the load moves to
// fewer servers, which then shed too, until none is left.
package weirhttp
