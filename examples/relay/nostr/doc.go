// Package nostr is the protocol between a relay and its clients: events, filters and messages, in the words of NIP-01 and
// of those that build on it (09 deletion, 11 information, 42 authentication, 45 counts, 70 protected events).
//
// Parsing is strict and bounded. What a client sends is untrusted: an error says in the protocol's words what is wrong, and no message
// takes more memory than a few times its length.
package nostr
