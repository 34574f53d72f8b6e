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
// than net/http's) or by downstream, never by raw path: clients invent paths, and each path would
// get a limiter.
//
// # Outcomes
//
// A request takes a slot of its [github.com/weir-go/weir.Admitter] before it runs and gives the
// slot back at its end. The end is also a measurement, by its outcome:
//
//   - a status below 400 is a success, and its latency is measured;
//   - 503 is an overload: the server refused the work;
//   - any other 5xx is a failure, and so is a handler that panics or an error of the transport;
//     504, a deadline that passed, or a timeout of the transport, is a timeout;
//   - a response of gRPC counts by its status, which is a trailer (package weirgrpc is for gRPC's
//     own servers and clients);
//   - 4xx teaches nothing: the caller was wrong, and such an answer is fast. For [Transport] only,
//     429 and 529 are overloads, because the downstream refuses this client. A handler's 429 is
//     most often a quota of one caller;
//   - a request whose client left is abandoned, whatever its status: its latency is not measured.
//
// # Slow clients
//
// A client that sends or reads slowly keeps a slot of Limit for as long as it likes. Twenty such
// clients block a service with a limit of 20. [Config].Streams prevents that:
//
//   - The body of a request is read before the request takes a slot, up to [Config].RequestBuffer,
//     whether its length is known or not.
//   - A request with a longer body is an upload. It holds a slot of its admitter while its handler
//     runs, and so also while the handler waits for the client. So all uploads of an admitter
//     together hold at most a part of the limit: [Config].Uploads, a quarter. The admitter learns
//     nothing from them, because their clients decide how long they take.
//   - A response is held back until its handler has returned and its slot is free, up to
//     [Config].ResponseBuffer.
//   - A conversation, in which client and server may take turns, is a stream: a request of gRPC or
//     of Connect's streams, by HTTP/2. Any request can claim to be a conversation, so each
//     conversation needs a slot of the streams. The admitter may refuse it too: the conversation
//     takes a slot of the admitter and gives that slot back at once.
//   - A response becomes a stream when it exceeds the buffer, is flushed, or takes its connection
//     over. It then exchanges its slot for a slot of the streams, which it holds to its end, or
//     until the upgraded connection is closed. The admitter learns the latency until the exchange,
//     except for a connection that was taken over.
//   - A request that asks for an upgrade is refused at once if the streams are full.
//
// Any other conversation would block, because its body is read first. Give its handler a Limit of
// its own, with the admitter of the streams and without Streams.
//
// A response that becomes a stream and finds no slot is replaced by a refusal; the context of its
// handler ends, and its writes fail. If it kept its slot of the admitter, twenty slow readers more
// would block the service all the same. The refusal has no Retry-After, because the work was done.
// So choose the cap of the streams by memory and connections (hundreds or thousands), not by the
// processors of the server. If a handler announces the length of a large response, the response is
// refused at its first byte.
//
// Set [net/http.Server].WriteTimeout and ReadTimeout, or deadlines of requests: nothing else ends
// a client that stalls. The limit does not bound the memory of held responses, so bound the
// connections.
//
// # Long-lived exchanges
//
// The duration of a connection says nothing about load, so it is no part of the latency. Without
// Config.Streams:
//
//   - An upgraded connection (Hijack, or 101 on the client's side) gives its
//     slot back at once and teaches nothing. Limit its messages one by one with
//     the limiter's own Acquire; Config.Streams caps the connections.
//   - A stream of server-sent events (Content-Type: text/event-stream) keeps its slot to the end,
//     and is not measured if it succeeds. Set Config.Streams, or give streams an admitter of their
//     own: otherwise they fill the slots that short requests need.
//   - A flush makes no stream: [net/http/httputil.ReverseProxy] flushes every chunked response.
//     With Config.Streams a flush makes a stream, so such a proxy needs as many slots for streams
//     as its upstream sends chunked responses at a time. Put other work that is slow by design,
//     such as long polling, behind another limiter, or behind no limiter.
//
// All other latencies begin with the slot and end when the handler returns, or when the client has
// read or closed the response's body. They include the time of a peer that sends or reads slowly.
// Bound that time by the timeouts of [net/http.Server] and [net/http.Client], or let latencies end
// at the first byte ([Config].FirstByte).
//
// # Order of middleware
//
// From the outside in:
//
//  1. logging, metrics and tracing, so that they see the refusals;
//  2. recovery from panics, so that Limit sees the panic;
//  3. middleware that sets a priority with [weir.WithPriority]. No header is trusted
//     by itself: [Trust] asks a function which requests may set a priority;
//  4. [net/http.TimeoutHandler], so that the slot is held for as long as the
//     work really runs;
//  5. Limit;
//  6. the mux, compression, and everything that costs more than a refusal.
//
// A client has, from the outside in, [RetryTransport], Transport, and [Propagate], which sends the
// server the priority, and the time that is left after the wait for a slot.
//
// # Health checks
//
// Never refuse health checks: a server that refuses work is busy, not dead, and if it is killed,
// the other servers get its load. [Exempt] lets health checks pass. For the same reason do not fail
// readiness while work is refused: the load moves to fewer servers, which then refuse work too,
// until no server is left.
package weirhttp
