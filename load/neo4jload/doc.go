// Package neo4jload tells how loaded a Neo4j server is, version 5 or later, as a
// source for [load].
//
//	source, err := neo4jload.New(neo4jload.Config{
//		URI: "neo4j://localhost", Auth: neo4j.BasicAuth("monitor", "secret", ""),
//	})
//	defer source.Close(ctx)
//	mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: source}}})
//
// # What it measures
//
// What the server says itself, by SHOW TRANSACTIONS and dbms.listConnections:
//
//	running       transactions that do not wait for a lock
//	blocked       transactions that do; writes, for readers take no locks
//	longest wait  of a transaction, for locks, in total; writes
//	oldest        the age of the oldest transaction; bounds nothing, unless
//	              Config.Oldest says so
//	connections   open, over the server's Bolt threads
//	page faults   of the transactions at work; bounds nothing
//
// The memory of the client says nothing about the server, so it is not here.
//
// # Itself
//
// The source has a driver and a connection of its own: on a saturated shared pool it
// would wait when it has most to tell. Its transactions carry a mark in their
// metadata and its connection another as user agent, so that neither is counted.
//
// # Privileges
//
// On the Enterprise edition the user needs the privilege SHOW TRANSACTION. Without it
// the server shows only the user's own transactions, which is none here, and does not
// say so: an unprivileged source reads 0.
//
// # Cost
//
// Two queries a poll, over one connection, aggregated by the server.
package neo4jload
