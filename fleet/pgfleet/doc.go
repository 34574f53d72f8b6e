// Package pgfleet keeps the entries of a fleet in a table of PostgreSQL, by way of database/sql.
// It needs no driver of its own.
//
//	db, err := sql.Open("pgx", dsn)
//	...
//	store, err := pgfleet.New(ctx, db, pgfleet.Config{Fleet: "search"})
//	...
//	member, err := fleet.Join(fleet.Config{Store: store, ...})
//
// # Cost
//
// A member makes one or two small writes in a refresh, and reads the entries of its watches four
// times: two rows, and all rows of the fleet on the member that allocates.
//
// It polls and does not LISTEN: database/sql has no call that waits for a notification, a failover
// or a pooler between transactions loses notifications, and the poll would have to stay for these.
//
// Give it a pool of its own, of six connections: if it waited for the connections of an overloaded
// service, the leases would end when they are needed.
//
// # Privileges
//
// A role that may not create tables needs those of [Schema], SELECT, INSERT, UPDATE and DELETE on
// weir_fleet, and USAGE on weir_fleet_revision.
//
// # Safety
//
// A row is a hint and no lock: package fleet keeps the cap although rows come late, or are lost in
// a failover. A process that may write to the table can take all shares.
package pgfleet
