// Package feed hands events to readers that may be slow: a [Reader] has a bounded channel, and
// a sender never waits for it.
package feed
