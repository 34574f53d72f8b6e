// Package neo4jload measures the load of a Neo4j server, version 5 or later, as a source for
// [load].
//
//	source, err := neo4jload.New(neo4jload.Config{
//		URI: "neo4j://localhost", Auth: neo4j.BasicAuth("monitor", "secret", ""),
//	})
//	defer source.Close(ctx)
//	mon, err := load.New(load.Config{Sources: []load.Source{source}})
//
// # Measurements
//
// The server's own figures, by SHOW TRANSACTIONS and dbms.listConnections:
//
//	running       transactions that do not wait for a lock
//	blocked       transactions that wait for a lock; writes, because readers take no locks
//	longest wait  of a transaction that waits for a lock, for locks, in total; writes
//	oldest        the age of the oldest transaction; bounds nothing
//	connections   open, over the server's Bolt threads
//	page faults   of the transactions at work; bounds nothing
//
// The memory of the client says nothing about the server, so it is not here.
//
// # Itself
//
// The source has a driver and a connection of its own: on a saturated shared pool it
// would wait when its readings matter most. Its transactions carry a mark in their
// metadata, and its connection has the same mark as user agent, so that the source counts
// neither.
//
// # Privileges
//
// On the Enterprise edition the user needs the privilege SHOW TRANSACTION or TRANSACTION
// MANAGEMENT. Otherwise the server shows only the user's own transactions, here none, and does not
// say so. The source asks for the user's privileges, at first and each minute, and fails with
// [ErrPrivilege] if the user has neither.
//
// Give the source a user of its own. Neo4j locks a user out after a few wrong passwords: with the
// user of the application, a source with an old password would lock the application out. A source
// that is not let in asks again after half a minute ([load.ErrDenied]).
//
// # Cost
//
// A poll runs two queries over one connection, which the server aggregates. Each minute the source
// asks for its privileges too.
package neo4jload
