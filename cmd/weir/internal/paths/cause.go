// Package paths tells what is wrong with a file.
package paths

import (
	"errors"
	"io/fs"
)

// Cause is what happened to a file, without the name of the file and of the system call, which the
// message around it gives.
func Cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
