//go:build linux || darwin

package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Left returns the free bytes of the file system that has a directory, or will have it once it is
// made.
func Left(dir string) (bytes uint64, known bool) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		return Left(parent)
	}
	return free(&s), err == nil
}
