//go:build !unix

package proxy

import "math"

// openFiles returns how many files the process may open: no bound is known here.
func openFiles() uint64 { return math.MaxUint64 }
