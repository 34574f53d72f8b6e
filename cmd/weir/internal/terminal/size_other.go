//go:build !unix && !windows

package terminal

import "errors"

func size(uintptr) (columns, rows int, err error) { return 0, 0, errors.ErrUnsupported }
