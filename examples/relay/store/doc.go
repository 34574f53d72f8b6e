// Package store keeps the events of a relay in Badger, and reads them newest first through
// indexes.
//
//	events, err := store.Open(store.Options{Dir: "/data", Memory: 512 << 20})
//	outcome, err := events.Save(ctx, &event)
//
//	cursor := events.Query(filter)
//	for more := true; more && err == nil; {
//		more, err = cursor.Next(1000, emit) // a short read of its own: pace reads here
//	}
//
// # Rules
//
// Save applies the protocol's rules in one transaction, whatever the order in which events
// arrive. It keeps the newest version of a replaceable or addressable event.
//
// # Durability
//
// An acknowledged event survives the death of the process at any instant, kill -9 included:
// it has been written into a mapped file, which the kernel keeps. A loss of power may take the
// latest events.
//
// # Limits
//
// A filter finds an event by the first 2,000 values of its single-letter tags: a
// transaction holds no more.
package store
