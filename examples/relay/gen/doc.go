// Package gen makes events for tests and measurements: valid, signed, of the kinds and sizes that a
// public relay sees, and the same ones for the same seed.
//
// The shares of the kinds are made up: notes and reactions are most of the events, and contact
// lists and articles, which are rare, most of the bytes.
package gen
