package disk

import "syscall"

// free counts fragments: a file system of FUSE, as of shared folders, may have blocks of 1 MiB, a
// size that only says how much it prefers to read at once.
func free(s *syscall.Statfs_t) uint64 { return s.Bavail * uint64(s.Frsize) }
