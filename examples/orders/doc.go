// Package orders is a small service with a limiter and a client, and the tests that such
// code needs. docs/testing.md is about them. Copy from it freely; nothing imports this
// package.
package orders
