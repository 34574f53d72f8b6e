// Package limittest helps the tests of adapters: it makes a limiter with a fixed limit,
// takes its slots, and checks the outcomes that it recorded.
package limittest
