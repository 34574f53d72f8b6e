//go:build !unix

package proxy

import "math"

// openFiles returns the largest number, because no bound on open files is known on this system.
func openFiles() uint64 { return math.MaxUint64 }
