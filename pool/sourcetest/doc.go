// Package sourcetest tests whether a [pool.Source] meets the requirements of a pool. The author of
// a source calls [Run] from a test. [MemorySource] is a source with leases that passes, for tests
// of code that uses a source.
package sourcetest
