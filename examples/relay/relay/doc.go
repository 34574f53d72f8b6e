// Package relay is a Nostr relay in front of a store that can be overloaded. It shows how to
// throttle a database that many clients share.
//
//	c, err := relay.Badger(relay.Config{Memory: 512 << 20}, events) // a store.Store, and what tells how loaded it is
//	s, err := relay.New(c)
//	go s.Serve(ctx, public)
//	go http.Serve(internal, s.Internal())
//	err = s.Run(ctx)
//
// # Order of protection
//
// A client's message passes these stages, the cheap ones first. Each refuses in the protocol's
// words, and each counts its refusals (relay_refused_total).
//
//	sockets       number, number by address, time to send a request              HTTP 503 or 429, with Retry-After, or closed
//	admission     number of connections, number by address, rate of new ones     HTTP 503 or 429, with Retry-After
//	size          bytes of a message, time to send it                            close frame 1009
//	rate          messages of a connection, by a token bucket                    the next message is read later
//	parsing       nostr.ParseMessage                                             "invalid:"
//	verification  weir.Limiter: one less at once than processors                 "rate-limited:", or "invalid:"
//	writes        throttle.Write: DrainRate, and few at once                     "rate-limited:"
//	memory        bytes of subscriptions, and of answers that are not read       "rate-limited:"
//	queries       throttle.Read: each slice of a cursor is an operation          "rate-limited:"
//	delivery      bytes that wait for a slow reader                              the connection ends
//
// A connection is a tenant in the last but one: where there is not enough for all, each gets its
// share, so that a flood delays only those who send it. At most a few messages of a connection are
// in work at once, and no more are read meanwhile: TCP tells a flooding client to wait.
//
// Connections are refused by their number alone, never because the store is loaded: a store
// recovers by finishing the work under way, and that may need a connection.
//
// # Memory of clients
//
// A connection has a share of memory: bytes of its own, of which a quarter of the target has enough
// for all, and beyond them what memory.Governor.Keep admits. Subscriptions are charged with their
// filters and their places in the index. A client's unsent messages are charged until they are
// sent, and so is the slice of a query, before it is read. A message is charged while it is read,
// and an event until it is answered. Where there is no memory, a subscription is refused that is
// larger than the connection's own share, a query is read in smaller slices, and a client that does
// not read loses its connection.
//
// # Internal traffic
//
// Imports, metrics and clients without a rate use the handler of another listener
// ([Server.Internal]). No header makes a request internal. An import has a low priority: its writes
// start when no client's write waits, apart from one slot of twenty.
package relay
