package law

import (
	"strings"

	"github.com/weir-go/weir/internal/nearest"
)

// kinds has the laws that Parse knows, in the order in which errors list them.
var kinds = []kind{
	kindOf[Band](),
	kindOf[Fixed](),
	kindOf[AIMD](),
	kindOf[Gradient](),
	kindOf[Gradient2](),
	kindOf[Vegas](),
	kindOf[Little](),
	kindOf[PID](),
	kindOf[Setpoint](),
}

// A kind is a law that has a text form.
type kind struct {
	name string
	form form // of a zero law
	read func(settings []string) (Law, error)
}

// kindOf makes the kind of a law whose form method ties a form to its fields.
func kindOf[L Law, P formed[L]]() kind {
	zero := P(new(L)).form()
	return kind{zero.name, zero, func(settings []string) (Law, error) {
		l := new(L)
		if err := P(l).form().read(settings); err != nil {
			return nil, err
		}
		if _, err := (*l).Controller(Bounds{Min: 1, Max: 1, Initial: 1}); err != nil {
			return nil, err
		}
		return *l, nil
	}}
}

// Parse reads a law from text: its name, alone or with settings, as in "fixed" or
// "band(target=200ms, max_cut=10)". A setting is named after its field, in lower case with
// underscores; fixed and setpoint take the value of their first setting without its name, as in
// "fixed(60)". Spaces around names and values do not matter.
//
// Controller accepts every law that Parse returns. A setting whose zero value means anything else,
// such as a default or no bound, cannot be given as 0. Errors match [ErrConfig], and name the
// mistake and the allowed values.
//
// Every law of this package writes such a text with String, and Parse reads an equal law from it.
func Parse(text string) (Law, error) {
	name, settings, err := split(text)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if k.name == name {
			return k.read(settings)
		}
		names[i] = k.name
	}
	return nil, faultf("unknown law %q: %s", name, nearest.Advice(name, names))
}

// split takes name(setting,...) apart.
func split(text string) (name string, settings []string, err error) {
	name, rest, open := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if !open {
		return name, nil, nil
	}
	inside, after, closed := strings.Cut(rest, ")")
	if !closed {
		return "", nil, faultf(`%q has no closing ")"`, text)
	}
	if after = strings.TrimSpace(after); after != "" {
		return "", nil, faultf(`%q follows the closing ")" of %q`, after, name)
	}
	if strings.TrimSpace(inside) == "" {
		return name, nil, nil
	}
	return name, strings.Split(inside, ","), nil
}

// read sets the fields from settings of the form name=value.
func (f form) read(settings []string) error {
	given := make(map[string]bool, len(settings))
	for _, text := range settings {
		name, value, ok := strings.Cut(text, "=")
		if !ok && f.bare {
			name, value, ok = f.settings[0].name, text, true
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || value == "" {
			return f.fault("%q: want setting=value", strings.TrimSpace(text))
		}
		if given[name] {
			return f.fault("%s is given twice", name)
		}
		given[name] = true
		if err := f.set(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (f form) set(name, value string) error {
	for _, s := range f.settings {
		if s.name != name {
			continue
		}
		if complaint := s.read(value); complaint != "" {
			return f.fault("%s %s", name, complaint)
		}
		return nil
	}
	return f.fault("unknown setting %q: %s", name, nearest.Advice(name, f.names()))
}
