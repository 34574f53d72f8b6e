// Package gen makes events for tests and measurements: valid, signed, of the kinds and sizes
// that a public relay receives. The same seed gives the same events.
//
// The shares of the kinds are invented: notes and reactions are most of the events, and
// contact lists and articles, which are rare, most of the bytes.
package gen
