package bulkhead

import (
	"fmt"

	"github.com/weir-go/weir"
)

// MaxKeyLength is how many bytes a key may have.
const MaxKeyLength = 256

// ErrKey matches the refusal of a key that is empty or too long, which is a [weir.RefusedError]
// with [weir.ReasonBadKey].
var ErrKey = fmt.Errorf("%w: bulkhead: key", weir.ErrRefused)

type keyError struct {
	refused weir.RefusedError
	problem string
}

func badKey(key, problem string) error {
	key = key[:min(len(key), MaxKeyLength)]
	return &keyError{weir.RefusedError{Limiter: key, Reason: weir.ReasonBadKey}, problem}
}

func (e *keyError) Error() string { return ErrKey.Error() + " " + e.problem }

func (e *keyError) Unwrap() []error { return []error{ErrKey, &e.refused} }

// checkKey returns the refusal of work for a bad key.
func checkKey(key string) error {
	if problem := problemOf(key); problem != "" {
		return badKey(key, problem)
	}
	return nil
}

func problemOf(key string) string {
	if key == "" || len(key) > MaxKeyLength {
		return fmt.Sprintf("of %d bytes: want 1 to %d", len(key), MaxKeyLength)
	}
	return ""
}
