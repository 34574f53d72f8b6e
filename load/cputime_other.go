//go:build !unix && !windows

package load

import "time"

// processTime is the processor time of this process.
func processTime() (time.Duration, error) { return 0, ErrUnavailable }
