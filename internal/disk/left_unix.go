//go:build linux || darwin

package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Left returns what the file system of a directory has left in bytes, or that of the directory that
// it will be made in.
func Left(dir string) (bytes uint64, known bool) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		return Left(parent)
	}
	return s.Bavail * uint64(s.Bsize), err == nil
}
