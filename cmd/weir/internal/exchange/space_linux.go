package exchange

import (
	"math"

	"golang.org/x/sys/unix"
)

// space returns the free bytes in the file system of a directory, and whether it is in
// memory.
func space(directory string) (free int64, inMemory bool) {
	var s unix.Statfs_t
	if unix.Statfs(directory, &s) != nil {
		return math.MaxInt64, false
	}
	//nolint:unconvert // Bsize and Type have 32 bits on some systems
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Type) == unix.TMPFS_MAGIC
}
