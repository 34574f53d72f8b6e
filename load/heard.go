package load

import "errors"

// A heard error is a source's error, with its answers. It is code of the
// user, which may call the monitor: it is asked once, during its poll and without a lock.
type heard struct {
	error
	text    string
	missing bool // it matches ErrUnavailable
	denied  bool // it matches ErrDenied
}

// hear asks an error. One that panics, or ends its goroutine, does so in its poll and not in a
// goroutine of the monitor or of its reader.
func hear(err error) error {
	if err == nil {
		return nil
	}
	return heard{err, err.Error(), errors.Is(err, ErrUnavailable), errors.Is(err, ErrDenied)}
}

func (h heard) Error() string { return h.text }
func (h heard) Unwrap() error { return h.error }

// unavailable is errors.Is with ErrUnavailable for the error of a poll or a reading.
func unavailable(err error) bool {
	h, ok := err.(heard) //nolint:errorlint // Only hear makes them, and an error that it wraps must not be asked.
	return ok && h.missing
}

// denied is errors.Is with ErrDenied for the error of a poll.
func denied(err error) bool {
	h, ok := err.(heard) //nolint:errorlint // As in unavailable.
	return ok && h.denied
}
