// Package exchange passes one request through a slot to its upstream, and keeps clients that
// send or read slowly from holding that slot.
//
// The slot covers only the upstream's work. The body of a request is read before the request takes
// its slot: into memory, then into a file. The body of a response is read ahead of the client,
// which receives it after the slot is free. Requests whose bodies are too long for both hold their
// slots within a part of the limit. Conversations and long responses are streams, with their own
// cap. No law sees the time that a client adds to its request.
//
//	request                        slot while the upstream works                    then
//	body fits the buffers          its gate's                                       by its response
//	longer, or no room             its gate's, within the part of uploads           by its response
//	conversation, open after 50ms  one of the streams; its gate is asked too        to its end
//	upgrade                        its gate's                                       exchanged for one of the WebSockets by a 101
//
//	response                      the gate's slot
//	no body                       free at the header
//	short, of known length        free when it has been read whole, before the client has any of it
//	longer                        exchanged for one of the streams at the header
//	of unknown length             free when its last byte is in the buffer; exchanged for one of the streams when it exceeds
//	                              the buffer, or lasts longer than Streams.After
//	server-sent events            exchanged for one of the event streams at the header
//
// The gate learns the latency up to the end of its slot, which the client cannot affect: a response
// becomes a stream by its size and the time since it began, and up to the buffer's size the proxy
// reads it even if the client reads slowly. Informational responses wait for the client on a
// goroutine of their own.
//
// A response that gets no stream slot is replaced by a refusal, or broken off if its header
// has been sent (decision 0033).
//
// A [Shared] holds the state of all routes: the caps, the memory, the counters. A [Route]
// serves the requests of one compartment. Its steps are in exchange.go: intake.go reads the body
// if there is one, admit.go takes a slot, send.go asks the upstream, receive.go decides about the
// slot, and copy.go sends the response to the client; fail.go answers if a step fails.
package exchange
