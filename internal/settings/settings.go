package settings

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxSlots bounds limits, caps, weights and counts of waiters, so that work in flight plus a weight
// fits 32 bits.
const MaxSlots = 1_000_000_000

// A Limiter has the settings common to every limiter. 0 means the default.
type Limiter struct {
	Min, Max, Initial int
	Interval, Window  time.Duration
	MinSamples        int
	QueueTimeout      time.Duration
	Start             int // the law's Initial
}

// Complete fills in the defaults.
func (l Limiter) Complete() Limiter {
	l.Min = cmp.Or(l.Min, 1)
	l.Max = cmp.Or(l.Max, max(100_000, l.Min))
	l.Initial = cmp.Or(l.Initial, min(max(l.Start, l.Min), l.Max))
	l.Interval = cmp.Or(l.Interval, time.Second)
	l.Window = cmp.Or(l.Window, max(10*time.Second, l.Interval))
	l.MinSamples = cmp.Or(l.MinSamples, 20)
	l.QueueTimeout = cmp.Or(l.QueueTimeout, time.Second)
	return l
}

// A Fault is a setting that another setting does not allow.
type Fault struct {
	Field string // of Limiter, as spelled by Check's caller
	Value any
	Want  string
}

// Check returns the fault of complete settings, or nil. Each setting must be in its own range. The
// function spell returns a field's name as the caller's users know it.
func (l Limiter) Check(spell func(field string) string) *Fault {
	switch {
	case l.Min > l.Max:
		return &Fault{spell("Min"), l.Min, fmt.Sprintf("at most %s, which is %d", spell("Max"), l.Max)}
	case l.Initial < l.Min || l.Initial > l.Max:
		return &Fault{
			spell("Initial"), l.Initial,
			fmt.Sprintf("from %s to %s, which are %d and %d", spell("Min"), spell("Max"), l.Min, l.Max),
		}
	case l.Window < l.Interval:
		return &Fault{spell("Window"), l.Window, fmt.Sprintf("at least %s, which is %v", spell("Interval"), l.Interval)}
	}
	return nil
}

// A Number is the type of a setting that is checked by its value.
type Number interface {
	int | int64 | float64 | time.Duration
}

// NotNegative returns an error unless the value is a finite number, 0 or more. The text want says
// which values are allowed.
func NotNegative[N Number](of error, field string, value N, want string) error {
	if value >= 0 && !math.IsInf(float64(value), 1) {
		return nil
	}
	return Invalid(of, field, value, want)
}

// Default fills in the default of a setting that is 0. It returns an error unless the value is a
// finite number, 0 or more.
func Default[N Number](of error, field string, value *N, otherwise N) error {
	err := NotNegative(of, field, *value, fmt.Sprintf("0 (the default, %v) or more", otherwise))
	*value = cmp.Or(*value, otherwise)
	return err
}

// DefaultUpTo is Default for a setting with an upper bound.
func DefaultUpTo[N Number](of error, field string, value *N, otherwise, most N) error {
	if !(*value >= 0 && *value <= most) { //nolint:staticcheck // also refuses NaN
		return Invalid(of, field, *value, fmt.Sprintf("0 (the default, %v) to %v", otherwise, most))
	}
	*value = cmp.Or(*value, otherwise)
	return nil
}

// Name returns an error unless the text is 1 to 64 letters, digits, hyphens and underscores, as the
// names of streams and buckets of NATS are.
func Name(of error, field, text string) error {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	if text != "" && len(text) <= 64 && !strings.ContainsFunc(text, other) {
		return nil
	}
	return Invalid(of, field, strconv.Quote(text), "1 to 64 letters, digits, hyphens and underscores")
}

// ErrConfig matches every error about a setting. Package weir exports it.
var ErrConfig = errors.New("weir: invalid configuration")

// ErrConfigOf returns the ErrConfig of another package, which matches the ErrConfig of package weir
// too.
func ErrConfigOf(pkg string) error { return configError(pkg) }

type configError string

func (pkg configError) Error() string { return string(pkg) + ": invalid configuration" }

func (configError) Is(target error) bool { return target == ErrConfig }

// Invalid returns an error that matches of, names the field and its value, and says which values
// are allowed.
func Invalid(of error, field string, value any, want string) error {
	return fmt.Errorf("%w: %s is %v: want %s", of, field, value, want)
}
