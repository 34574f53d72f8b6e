package retry

import (
	"fmt"
	"time"

	"github.com/weir-go/weir"
)

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// inRange complains about a number that is not above least and at most most. NaN is neither.
func inRange(field string, value, above, most float64) error {
	if value > above && value <= most {
		return nil
	}
	return fmt.Errorf("%w: retry: %s is %v: want 0 (the default), or above %v and at most %v", weir.ErrConfig, field, value, above, most)
}

// lasts complains about a duration that is out of range.
func lasts(field string, value, least, most time.Duration) error {
	if value >= least && value <= most {
		return nil
	}
	return fmt.Errorf("%w: retry: %s is %v: want 0 (the default), or %v to %v", weir.ErrConfig, field, value, least, most)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
