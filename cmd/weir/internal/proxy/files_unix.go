//go:build unix

package proxy

import (
	"math"
	"syscall"
)

// openFiles returns how many files the process may open.
func openFiles() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur) //nolint:unconvert // it is signed on some systems
}
