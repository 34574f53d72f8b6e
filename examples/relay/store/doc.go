// Package store keeps the events of a relay in Badger, and reads them newest first through indexes.
//
//	events, err := store.Open(store.Options{Dir: "/data", Memory: 512 << 20})
//	outcome, err := events.Save(ctx, &event)
//
//	cursor := events.Query(filter)
//	for more := true; more && err == nil; {
//		more, err = cursor.Next(1000, emit) // a short read of its own: what paces reads stands here
//	}
//
// # Rules
//
// Save applies the protocol's rules in one transaction, whatever the order in which events arrive.
// Of a replaceable or addressable event the newest version is kept. A deletion (kind 5) removes
// what it names of the same author, and leaves a mark, so that a later import does not bring it
// back. A deletion cannot be deleted. An older version does not take the place of a deleted one,
// neither by itself nor by an import.
//
// # Durability
//
// Acknowledged events survive the death of the process at any instant, kill -9 included: it has
// been written into a mapped file, which the kernel keeps. It does not survive a loss of power
// unless [Store.Sync] returned after it. A caller that must tell its own sender that an event is
// safe from that calls Sync for a batch of events and acknowledges them afterwards: one costs
// milliseconds, however many events it makes durable.
//
// # Limits
//
// A filter finds an event by the first 2,000 different values of its single-letter tags, and a
// deletion names at most 2,000 events: a transaction holds no more.
package store
