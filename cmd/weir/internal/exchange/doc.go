// Package exchange takes one request through a slot to its upstream, and keeps clients that send or
// read slowly from holding that slot.
//
// The slot is held at the upstream's side only. The body of a request is read before the request
// takes its slot: in memory, then in a file. The body of a response is read ahead of the client,
// which receives it when the slot is free. Requests whose bodies are too long for that hold their
// slots within a part of the limit. Conversations and long responses are streams: they have a cap
// of their own. No law sees how long a client makes its request take.
//
//	request                        slot while the upstream works                    then
//	body fits the buffers          its gate's                                       by its response
//	longer, or no room             its gate's, within the part of uploads           by its response
//	conversation, open after 50ms  one of the streams; its gate is asked too        to its end
//	upgrade                        one of the WebSockets; its gate is asked too     to the end of the connection
//
//	response                      what becomes of the gate's slot
//	no body                       free at the header
//	short, of known length        free when it has been read whole, before the client has any of it
//	longer                        exchanged for one of the streams at the header
//	of unknown length             free when its last byte is in the buffer; exchanged for one of the streams when it exceeds
//	                              the buffer, or goes on for longer than Streams.After
//	server-sent events            exchanged for one of the event streams at the header
//
// The gate learns the latency to where its slot ends. That is never the client's doing: what makes
// a response a stream is how much of it has come, and for how long, and it comes up to the buffer's
// size however slowly the client reads.
//
// A response that finds no slot of its kind is replaced by a refusal, or broken off if its header
// has been sent (decision 0033).
//
// A [Shared] has what all routes share: the caps, the memory, the counters. A [Route] is the
// handler of the requests of one compartment. Their context already has the priority, the tenant
// and the deadline of a request, and its header is as the upstream is to see it.
package exchange
