package settings

import (
	"errors"
	"fmt"
)

// ErrConfig is exported by package weir: every error about a setting matches it.
var ErrConfig = errors.New("weir: invalid configuration")

// ErrConfigOf returns the ErrConfig of another package, which matches that of package weir too.
func ErrConfigOf(pkg string) error { return configError(pkg) }

type configError string

func (pkg configError) Error() string { return string(pkg) + ": invalid configuration" }

func (configError) Is(target error) bool { return target == ErrConfig }

// Invalid returns an error that matches of, names the field and its value, and says which values
// are allowed.
func Invalid(of error, field string, value any, want string) error {
	return fmt.Errorf("%w: %s is %v: want %s", of, field, value, want)
}
