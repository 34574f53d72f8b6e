// Package paths explains file errors.
package paths

import (
	"errors"
	"io/fs"
)

// Cause returns the cause of a file error, without the names of the file and of the system
// call, which the surrounding message has.
func Cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
