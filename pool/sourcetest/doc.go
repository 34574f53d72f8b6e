// Package sourcetest tests whether a [pool.Source] does what a pool asks of it. Whoever
// writes one calls [Run] from a test of their own. [MemorySource] is a source with leases that
// passes, for tests of what uses one.
package sourcetest
