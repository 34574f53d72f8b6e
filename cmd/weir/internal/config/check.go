package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A checker adds the errors of a Config to its faults.
type checker struct {
	*Config
	places map[string]place // the fields' places in the file
	faults *faults
}

// at returns the place of the field, or else of the object around it.
func (c *checker) at(path string) place {
	for {
		if at, ok := c.places[path]; ok || path == "" {
			return at
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// refuse adds a fault for a field, unless another fault may already explain this one.
func (c *checker) refuse(path, format string, args ...any) {
	if !c.faults.cover(path) {
		c.faults.add(c.at(path), path, format, args...)
	}
}

// isnt adds a fault for the value of a field.
func (c *checker) isnt(path string, value any, want string) {
	c.refuse(path, "is %s: want %s", show(value), want)
}

// show formats a value as it would be written in a file.
func show(value any) string {
	v := reflect.ValueOf(value)
	switch {
	case v.Kind() == reflect.String:
		return quoted(v.String())
	case v.Kind() == reflect.Slice:
		all := make([]string, v.Len())
		for i := range all {
			all[i] = show(v.Index(i).Interface())
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return fmt.Sprint(value)
}

const wantName = "a name of 1 to 100 letters, digits, dots, - and _, the first a letter or a digit"

// nameForm is the form that wantName describes. Names are also labels of metrics.
const nameForm = `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`

var namePattern = regexp.MustCompile(nameForm)

func sortedKeysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
