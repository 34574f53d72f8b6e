package disk

import "syscall"

func free(s *syscall.Statfs_t) uint64 { return s.Bavail * uint64(s.Bsize) }
