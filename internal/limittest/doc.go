// Package limittest has what tests of adapters need of a limiter: one whose limit stays, its slots
// taken, and what it was told.
package limittest
