//go:build linux || darwin

package badgerload

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// space is what the file system of a directory has left in bytes, or that of the directory that it
// will be made in.
func space(dir string) (left uint64, known bool) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		return space(parent)
	}
	return s.Bavail * uint64(s.Bsize), err == nil
}
