package settings

import (
	"math"
	"time"
)

// A Number is the type of a setting that is checked by its value.
type Number interface{ int | float64 | time.Duration }

// NotNegative returns an error unless the value is a finite number, 0 or more. The text want says
// which values are allowed.
func NotNegative[N Number](of error, field string, value N, want string) error {
	if value >= 0 && !math.IsInf(float64(value), 1) {
		return nil
	}
	return Invalid(of, field, value, want)
}
