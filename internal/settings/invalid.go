package settings

import "fmt"

// Invalid returns an error that matches of, names the field and its value, and says which values are allowed.
func Invalid(of error, field string, value any, want string) error {
	return fmt.Errorf("%w: %s is %v: want %s", of, field, value, want)
}
