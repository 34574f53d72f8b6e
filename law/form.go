package law

import (
	"fmt"
	"strings"

	"github.com/weir-go/weir/internal/settings"
)

// ErrConfig matches every error of this package: a setting out of range, or a text that is no
// law.
var ErrConfig = settings.ErrConfigOf("law")

// A fault is an error that matches ErrConfig but has its own text.
type fault string

func (f fault) Error() string { return "law: " + string(f) }
func (f fault) Unwrap() error { return ErrConfig }

func faultf(format string, args ...any) error { return fault(fmt.Sprintf(format, args...)) }

// A form is a law as text: its name, and its settings tied to their fields. Defaults, ranges,
// reading and writing all use it.
type form struct {
	name     string
	settings []setting
	bare     bool // a value without a name is the first setting
}

type setting struct {
	name string
	value
}

func (f form) fault(format string, args ...any) error {
	return faultf(f.name+": "+format, args...)
}

func (f form) check() error {
	for _, s := range f.settings {
		if complaint := s.check(); complaint != "" {
			return f.fault("%s %s", s.name, complaint)
		}
	}
	return nil
}

func (f form) fill() {
	for _, s := range f.settings {
		s.fill()
	}
}

func (f form) names() []string {
	names := make([]string, len(f.settings))
	for i, s := range f.settings {
		names[i] = s.name
	}
	return names
}

// String writes the name and the settings that are not zero.
func (f form) String() string {
	var set []string
	for _, s := range f.settings {
		if !s.zero() {
			set = append(set, s.name+"="+s.String())
		}
	}
	if set == nil {
		return f.name
	}
	return f.name + "(" + strings.Join(set, ",") + ")"
}
