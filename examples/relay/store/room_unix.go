//go:build linux || darwin

package store

import "syscall"

// freeBytes returns how much more a process without privileges may write.
func freeBytes(dir string) (uint64, error) {
	var fs syscall.Statfs_t
	err := syscall.Statfs(dir, &fs)
	return fs.Bavail * uint64(fs.Bsize), err
}
