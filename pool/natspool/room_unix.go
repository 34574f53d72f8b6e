//go:build linux || darwin

package natspool

import "syscall"

// room is what the file system of a folder has left, in bytes.
func room(dir string) (left uint64, known bool) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return s.Bavail * uint64(s.Bsize), err == nil
}
