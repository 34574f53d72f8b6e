// Package relay is a Nostr relay in front of a store that can be overloaded. It shows how to
// throttle a database that many clients share.
//
//	c, err := relay.Badger(relay.Config{Memory: 512 << 20}, events) // a store.Store, and its load sources
//	s, err := relay.New(c)
//	go http.Serve(public, s.Handler())
//	go http.Serve(internal, s.Internal())
//	err = s.Run(ctx)
//
// A message of a client passes stages of protection, the cheap ones first: README.md lists
// them. Each stage refuses in the protocol's words, and counts its refusals
// (relay_refused_total).
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
// quarter of the target, and beyond them the bytes that memory.Governor.TryAcquireKept admits.
// Subscriptions are charged with their message and their filters. A message to a client is charged
// until it is sent, and the slice of a query from before it is read. A message of a client is
// charged while it is read, and an event until it is answered.
//
// # Internal traffic
//
// Metrics and clients without a rate use the handler of another listener ([Server.Internal]). No
// header makes a request internal.
package relay
