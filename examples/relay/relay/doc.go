// Package relay is a Nostr relay in front of a store that can be overloaded. It shows how to
// throttle a database that many clients share.
//
//	c, err := relay.Badger(relay.Config{Memory: 512 << 20}, events) // a store.Store, and its load sources
//	s, err := relay.New(c)
//	go s.Serve(ctx, public)
//	go http.Serve(internal, s.Internal())
//	err = s.Run(ctx)
//
// # Order of protection
//
// A message of a client passes these stages, the cheap ones first. Each stage refuses in the
// protocol's words, and counts its refusals (relay_refused_total).
//
//	sockets       number, number by address, time to send a request              HTTP 503 or 429, with Retry-After, or closed
//	admission     number of connections, number by address, rate of new ones     HTTP 503 or 429, with Retry-After
//	size          bytes of a message, time to send it                            close frame 1009
//	rate          messages of a connection, by a token bucket                    the next message is read later
//	parsing       nostr.ParseMessage                                             "invalid:"
//	verification  weir.Limiter: one less at once than processors                 "rate-limited:", or "invalid:"
//	writes        throttle.Write: DrainRate, and few at once                     "rate-limited:"
//	memory        bytes of subscriptions, and of unread answers                  "rate-limited:"
//	queries       throttle.Read: each slice of a cursor is an operation          "rate-limited:"
//	delivery      bytes that wait for a slow reader                              the connection ends
//
// A connection is a tenant in verification, writes and queries: under overload each
// connection gets its share, so that a flood delays only the clients that send it. At most a
// few messages of a connection are processed at once, and no more are read meanwhile: TCP
// makes a flooding client wait.
//
// Connections are refused only by their number, never because of the store's load: a store
// recovers by finishing the work under way, and that may need a connection.
//
// # Memory of clients
//
// A connection has a share of memory: bytes of its own, reserved for all connections in a
// quarter of the target, and beyond them the bytes that memory.Governor.Keep admits.
// Subscriptions are charged with their filters and their places in the index. A message to a
// client is charged until it is sent, and the slice of a query from before it is read. A
// message of a client is charged while it is read, and an event until it is answered.
// Without memory, a subscription larger than the connection's own share is refused, a query
// is read in smaller slices, and a client that does not read loses its connection.
//
// # Internal traffic
//
// Imports, metrics and clients without a rate use the handler of another listener
// ([Server.Internal]). No header makes a request internal. An import has a low priority: its
// writes start when no client's write waits, except for one slot of twenty.
package relay
