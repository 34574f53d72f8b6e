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

	// last checks complete settings against one another, and fills in defaults that depend on
	// several settings. It may be nil.
	last func() (complaint string)
}

// A formed is a pointer to a law that has a form.
type formed[L any] interface {
	*L
	form() form
}

type setting struct {
	name string
	value
}

func (f form) fault(format string, args ...any) error {
	return faultf(f.name+": "+format, args...)
}

// complete checks the settings and fills in the defaults.
func (f form) complete() error {
	for _, s := range f.settings {
		if complaint := s.check(); complaint != "" {
			return f.fault("%s %s", s.name, complaint)
		}
		s.fill()
	}
	if f.last != nil {
		if complaint := f.last(); complaint != "" {
			return f.fault("%s", complaint)
		}
	}
	return nil
}

// completed returns a law with its defaults filled in.
func completed[L any, P formed[L]](l L) (L, error) {
	err := P(&l).form().complete()
	return l, err
}

// started starts a law with its defaults filled in.
func started[L any, P formed[L]](l L, start func(complete L) Controller) (Controller, error) {
	complete, err := completed[L, P](l)
	if err != nil {
		return nil, err
	}
	return start(complete), nil
}

// retuned takes over the settings of l if l is a law of the same type and its settings are in
// range.
func retuned[L Law, P formed[L]](settings *L, l Law) bool {
	same, ok := l.(L)
	if !ok {
		return false
	}
	complete, err := completed[L, P](same)
	if err == nil {
		*settings = complete
	}
	return err == nil
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

// A Form is the text form of a law, for [Parse].
type Form struct {
	Name     string    // the start of the text
	Settings []Setting // in the order in which String writes them
}

// A Setting is one of the settings in the text of a law.
type Setting struct {
	Name    string // as in name=value
	Default string // the value of a setting that is left out; empty if there is no default
	Allowed string // in words, such as "more than 0 and less than 1"
}

// Forms lists the laws that [Parse] knows, with their settings, in an order that does not change.
// The list is the caller's own.
func Forms() []Form {
	forms := make([]Form, len(kinds))
	for i, k := range kinds {
		forms[i].Name = k.name
		for _, s := range k.form.settings {
			preset, allowed := s.describe()
			forms[i].Settings = append(forms[i].Settings, Setting{s.name, preset, allowed})
		}
	}
	return forms
}
