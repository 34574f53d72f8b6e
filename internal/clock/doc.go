// Package clock has the one clock of limiters and pools, and sums waits.
package clock
