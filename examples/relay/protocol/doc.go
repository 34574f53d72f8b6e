// Package protocol implements the protocol between a relay and its clients: events, filters
// and messages of NIP-01, and the counts of NIP-45. Events, filters and messages are the types of
// go-nostr, which also computes hashes and checks signatures.
//
// Parsing is strict and bounded. Messages of clients are untrusted: an error explains the
// fault in the protocol's words, and no message takes more memory than five times the
// longest that the limits allow.
//
// It is stricter than go-nostr, which reads events with null or duplicate fields, with
// upper-case hexadecimal digits, and with halves of surrogate pairs, which it replaces with
// another character. No client can use an event that a relay cannot return exactly as it was
// signed.
package protocol
