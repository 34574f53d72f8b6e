package retry

import (
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/settings"
)

// inRange checks that a number is greater than above and at most most. NaN is neither.
func inRange(field string, value, above, most float64) error {
	if value > above && value <= most {
		return nil
	}
	return invalid(field, value, fmt.Sprintf("0 (the default), or above %v and at most %v", above, most))
}

// lasts checks that a duration is in range.
func lasts(field string, value, least, most time.Duration) error {
	if value >= least && value <= most {
		return nil
	}
	return invalid(field, value, fmt.Sprintf("0 (the default), or %v to %v", least, most))
}

func invalid(field string, value any, want string) error {
	return settings.Invalid(weir.ErrConfig, "retry: "+field, value, want)
}
