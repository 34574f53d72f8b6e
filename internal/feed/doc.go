// Package feed hands events to readers that may be slow: a [Reader] has a bounded channel, and
// those who tell it something never wait for it.
package feed
