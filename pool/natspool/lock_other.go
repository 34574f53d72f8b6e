//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package natspool

import (
	"errors"
	"os"
)

var errLocked = errors.New("locked by another process")

// lockFile locks nothing: this system has no locks that end with their process.
func lockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
