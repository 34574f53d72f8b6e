// Package clock has the one clock of limiters and pools.
package clock
