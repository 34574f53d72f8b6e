package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A place is the origin of a value: a file with a line and column. The file has no name if flags
// were given in its place.
type place struct {
	file         string
	line, column int
}

func (p place) String() string {
	switch {
	case p.file == "":
		return ""
	case p.line > 0:
		return fmt.Sprintf("%s:%d:%d: ", p.file, p.line, p.column)
	}
	return p.file + ": "
}

// line names a second place in a complaint, if it is in a file.
func line(at place) string {
	if at.file == "" || at.line == 0 {
		return ""
	}
	return fmt.Sprintf(" (the first is on line %d)", at.line)
}

type fault struct {
	place
	field   string // such as routes[2].upstream; "" for the file as a whole
	problem string // such as `is "x": want one of "a", "b"`
}

func (f *fault) Error() string {
	if f.field == "" {
		return f.String() + f.problem
	}
	return f.String() + f.field + " " + f.problem
}

type faults []*fault

func (f *faults) add(at place, field, format string, args ...any) {
	*f = append(*f, &fault{at, field, fmt.Sprintf(format, args...)})
}

// err joins the faults in their order in the file. The checks find them in another order.
func (f faults) err() error {
	slices.SortStableFunc(f, func(a, b *fault) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	errs := make([]error, len(f))
	for i, one := range f {
		errs[i] = one
	}
	return errors.Join(errs...)
}

// cover reports whether the field or an object around it has a fault, which may explain any
// other fault of the field.
func (f faults) cover(field string) bool {
	return slices.ContainsFunc(f, func(one *fault) bool { return within(field, one.field) })
}

// touch reports whether one of the fields, a value in it, or an object around it has a fault.
func (f faults) touch(fields ...string) bool {
	return slices.ContainsFunc(fields, func(field string) bool {
		return f.cover(field) || slices.ContainsFunc(f, func(one *fault) bool { return within(one.field, field) })
	})
}

// within reports whether field equals other or is in it.
func within(field, other string) bool {
	rest, is := strings.CutPrefix(field, other)
	return is && (rest == "" || other == "" || rest[0] == '.' || rest[0] == '[')
}

func join(path, name string) string {
	switch {
	case !plain.MatchString(name):
		return fmt.Sprintf("%s[%q]", path, name)
	case path == "":
		return name
	}
	return path + "." + name
}

func item(path string, index int) string { return fmt.Sprintf("%s[%d]", path, index) }
