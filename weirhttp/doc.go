// Package weirhttp puts limiters in front of HTTP handlers ([Limit]) and HTTP
// clients ([Transport]), and retries requests within a budget ([RetryTransport]).
//
// Limit keeps a server fast during an overload. Transport keeps a client from
// overloading its downstream. Both work with one limiter and no settings:
//
//	http.ListenAndServe(":8080", weirhttp.Limit(mux, weirhttp.One(lim)))
//	client := &http.Client{Transport: weirhttp.Transport(nil, weirhttp.One(lim))}
//
// To choose a limiter for each request, choose by route ([ByRoute], or [ByKey] for other routers
// than that of net/http) or by downstream, never by raw path: clients invent paths, and each would
// come with a limiter.
//
// # Outcomes
//
// A request takes a slot of its [github.com/weir-go/weir.Admitter] before it runs and gives the
// slot back when it is over. The release is also a measurement, so the package has to see how the
// request ended:
//
//   - a status below 400 is a success, and its latency is measured;
//   - 503 is an overload: the server refused the work;
//   - any other 5xx is a failure, and so is a handler that panics or an error of
//     the transport; 504, a deadline that passed, or a transport's time-out, is a
//     timeout;
//   - a response of gRPC counts by its status, which is a trailer: see
//     weirgrpc for servers and clients of gRPC's own;
//   - 4xx teaches nothing: the caller was wrong, and such an answer is fast. For
//     [Transport] only, 429 is an overload, and so is 529: the downstream refuses
//     this very client. A handler's 429 is most often a quota of one caller;
//   - a client that left teaches nothing, whatever became of its request.
//
// # Slow clients
//
// A client that sends or reads slowly keeps a slot of Limit for as long as it likes: twenty of them
// shut a service with a limit of 20. [Config].Streams prevents that:
//
//   - The body of a request is read before the request takes a slot, up to [Config].RequestBuffer,
//     whether its length is known or not.
//   - A request with a longer body is an upload. It holds a slot of its admitter while its handler
//     runs, which waits for its client too, so all uploads of an admitter together hold a part of
//     the limit at most: [Config].Uploads, a quarter. The admitter learns nothing of them, because
//     their clients decide how long they take.
//   - A response is held back until its handler has returned and its slot is free, up to
//     [Config].ResponseBuffer.
//   - A conversation, whose two sides may take turns, is a stream: a request of gRPC or of
//     Connect's streams, by HTTP/2. A client can claim one, so the streams bound them. It needs a
//     slot of the streams to run, and asks the admitter too, whose slot it gives back at once.
//   - A response becomes a stream when it exceeds the buffer, is flushed, or takes its connection
//     over: it exchanges its slot for one of the streams, and the admitter learns the latency to
//     there, though not of a connection that was taken over. A stream holds its slot to its end; an
//     upgraded connection, until it is closed.
//   - A request that asks for an upgrade is refused at once if the streams are full.
//
// Other conversations would wait for each other, as the body is read first. Give their handlers a
// Limit of their own, whose admitter is that of the streams, and which has no Streams itself.
//
// A response that finds no slot among the streams is replaced by a refusal, the context of its
// handler ends, and its writes fail. It does not keep its slot of the admitter, or twenty slow
// readers more would shut the service all the same. The refusal has no Retry-After, because the
// work was done. So cap streams by memory and connections (hundreds or thousands), not by the
// processors of the server. Announce the length of a large response, and it is refused at its
// first byte.
//
// Held responses are the reason to set [net/http.Server].WriteTimeout and ReadTimeout, or deadlines
// of a request: nothing else ends a client that stalls. Held responses take memory that the
// limit does not bound; bound the connections.
//
// # Long-lived exchanges
//
// How long a connection stays open says nothing about load, so it is kept out
// of the latency. Without Config.Streams:
//
//   - An upgraded connection (Hijack, or 101 on the client's side) gives its
//     slot back at once and teaches nothing. Limit its messages one by one with
//     the limiter's own Acquire; Config.Streams caps the connections.
//   - A stream of server-sent events (Content-Type: text/event-stream) keeps its slot to the end,
//     and is not measured if it succeeds. Set Config.Streams, or give streams an admitter of their
//     own: otherwise they fill the slots that short requests need.
//   - Flushing alone makes no stream: [net/http/httputil.ReverseProxy] flushes every chunked
//     response. With Config.Streams it does make one, so a proxy needs as many slots for streams as
//     its upstream sends chunked responses at a time. Anything else that is slow by design, such as
//     long polling, belongs behind a limiter of its own, or none.
//
// All other latencies run from the slot to the end: until the handler returns,
// or until the client has read or closed the response's body. They include a
// peer that is slow to send or to read a large body; bound that with the
// timeouts of [net/http.Server] and [net/http.Client]. [Config].FirstByte has them end at the
// first byte.
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
// A client has, from the outside in, [RetryTransport], [Propagate], which sends the server the
// priority, the time left and the attempt, and Transport.
//
// # Health checks
//
// Never shed them: a server that sheds is busy, not dead, and one that is
// killed for being busy leaves its load to the others. [Exempt] lets them pass.
// For the same reason do not fail readiness while shedding: the load moves to
// fewer servers, which then shed too, until none is left.
package weirhttp
