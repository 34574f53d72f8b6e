// Package nostr is the protocol between a relay and its clients: events, filters and messages, in
// the words of NIP-01 and of those that build on it (09 deletion, 11 information, 42
// authentication, 45 counts, 70 protected events).
//
// Parsing is strict and bounded. Messages of clients are untrusted: an error says in the protocol's
// words what is wrong, and no message takes more memory than five times the longest that the limits
// allow.
//
// It is stricter than go-nostr, which reads events with a field that is null or there twice, with
// upper-case hexadecimal digits, and with halves of surrogate pairs, for which it reads another
// character. An event that a relay could not give back as it was signed is of use to no client.
package nostr
