//go:build unix

package load

import (
	"syscall"
	"time"
)

// processTime is the processor time of this process.
func processTime() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
