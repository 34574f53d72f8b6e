// Package protocol implements the protocol between a relay and its clients: events, filters
// and messages of NIP-01, and the counts of NIP-45. Events, filters and messages are the types of
// go-nostr, which also reads them, computes hashes and checks signatures.
//
// Messages of clients are untrusted: an error explains the fault in the protocol's words, and
// what a message may keep is bounded. Text that programs read differently, such as a field that is
// there twice, needs no rule of its own: what was read is sent on, and its hash must be the ID.
package protocol
