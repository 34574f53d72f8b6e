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
// In a refresh a member makes one or two small writes, and reads the entries of its watches four
// times. These are two rows, and all rows of the fleet for the member that allocates.
//
// A Store polls and does not LISTEN. database/sql has no call that waits for a notification. A
// failover or a pooler between transactions loses notifications, so the poll would be needed all
// the same.
//
// Give the Store its own pool of six connections. If it waited for the connections of an overloaded
// service, the leases would end when they are needed.
//
// # Privileges
//
// A role that may not create tables needs the table and the sequence of [Schema], SELECT, INSERT,
// UPDATE and DELETE on weir_fleet, and USAGE on weir_fleet_revision.
//
// # Safety
//
// A row is a hint and no lock: package fleet keeps the cap even if rows come late, or are lost in a
// failover. A process that may write to the table can take all shares.
package pgfleet
