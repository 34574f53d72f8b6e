package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/law"
)

// ParseScenario reads a scenario from JSON; the file's name is for errors. It is
// strict: an unknown or repeated field, a value out of range or a law that does not
// exist is a [FieldError] that names file, line, field and the allowed values.
func ParseScenario(file string, text []byte) (Scenario, error) {
	return parseScenario(file, text, false)
}

// ParseSystem reads the scenario around a trace, like [ParseScenario], but any field may be
// left out, to be set by the caller.
func ParseSystem(file string, text []byte) (Scenario, error) { return parseScenario(file, text, true) }

func parseScenario(file string, text []byte, part bool) (Scenario, error) {
	root, err := readJSON(file, text)
	if err != nil {
		return Scenario{}, err
	}
	d := decoder{file: file, lines: map[string]int{}, part: part}
	var s Scenario
	if err := d.value("", root, reflect.ValueOf(&s).Elem(), ""); err != nil {
		return Scenario{}, err
	}
	whole := s
	if part {
		whole = s.filled()
	}
	if _, err := whole.complete(); err != nil {
		return Scenario{}, d.locate(err)
	}
	return s, nil
}

// filled returns the scenario with a value in each required field, so that the others can be
// checked.
func (s Scenario) filled() Scenario {
	s.Arrivals = cmp.Or(s.Arrivals, Arrivals(Poisson{Rate: 1}))
	s.Work = cmp.Or(s.Work, Work(Constant{Mean: time.Second}))
	s.Server = cmp.Or(s.Server, Server(WorkerPool{Workers: 1}))
	s.SLO = cmp.Or(s.SLO, time.Second)
	if s.Phases == nil {
		s.Phases = []Phase{{Length: time.Second}}
	}
	return s
}

// A decoder fills Go values from nodes.
type decoder struct {
	file  string
	lines map[string]int // line of each field in the file
	part  bool           // fields of the scenario may be missing
}

// locate adds file and line to an error about a field: the line of the innermost enclosing
// value in the file.
func (d *decoder) locate(err error) error {
	var fault *FieldError
	if !errors.As(err, &fault) {
		return fmt.Errorf("%s: %w", d.file, err)
	}
	path := fault.Field
	for path != "" && d.lines[path] == 0 {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return &FieldError{File: d.file, Line: max(1, d.lines[path]), Field: fault.Field, Problem: fault.Problem}
}

func (d *decoder) fault(n *jsonValue, path, format string, args ...any) error {
	return &FieldError{File: d.file, Line: n.line, Field: path, Problem: fmt.Sprintf(format, args...)}
}

// unknown is the error for a member with an unknown name.
func (d *decoder) unknown(m jsonMember, path string, known []string) error {
	return &FieldError{File: d.file, Line: m.line, Field: path, Problem: "is unknown: " + nearest.Advice(m.name, known)}
}

// unlike is the error for a value of the wrong type.
func (d *decoder) unlike(n *jsonValue, path, want string) error {
	switch n.shape {
	case object:
		return d.fault(n, path, "is an object: want %s", want)
	case array:
		return d.fault(n, path, "is a list: want %s", want)
	}
	if n.scalar == nil {
		return d.fault(n, path, "is null: want %s", want)
	}
	if text, ok := n.scalar.(string); ok {
		return d.fault(n, path, "is %q: want %s", text, want)
	}
	return d.fault(n, path, "is %v: want %s", n.scalar, want)
}

// value decodes a node into a field with a range tag.
func (d *decoder) value(path string, n *jsonValue, to reflect.Value, tag string) error {
	d.lines[path] = n.line
	switch {
	case to.Type() == durationType:
		return d.duration(path, n, to)
	case to.Type() == lawType:
		return d.law(path, n, to)
	}
	switch to.Kind() {
	case reflect.Struct:
		return d.fields(path, n, to)
	case reflect.Slice:
		return d.items(path, n, to, tag)
	case reflect.Interface:
		return d.kind(path, n, to)
	case reflect.String:
		text, ok := n.scalar.(string)
		if !ok {
			return d.unlike(n, path, "a text")
		}
		to.SetString(text)
	case reflect.Bool:
		on, ok := n.scalar.(bool)
		if !ok {
			return d.unlike(n, path, "true or false")
		}
		to.SetBool(on)
	case reflect.Int:
		number, _ := n.scalar.(json.Number)
		whole, err := strconv.Atoi(string(number))
		if err != nil {
			return d.unlike(n, path, "a whole number, "+rangeOf(tag).String())
		}
		to.SetInt(int64(whole))
	case reflect.Float64:
		number, _ := n.scalar.(json.Number)
		v, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			return d.unlike(n, path, "a number, "+rangeOf(tag).String())
		}
		to.SetFloat(v)
	}
	return nil
}

func (d *decoder) duration(path string, n *jsonValue, to reflect.Value) error {
	text, _ := n.scalar.(string)
	v, err := time.ParseDuration(text)
	if err != nil {
		return d.unlike(n, path, `a duration such as "250ms"`)
	}
	to.SetInt(int64(v))
	return nil
}

func (d *decoder) law(path string, n *jsonValue, to reflect.Value) error {
	text, ok := n.scalar.(string)
	if !ok {
		return d.unlike(n, path, `a law such as "band(target=200ms)"`)
	}
	l, err := law.Parse(text)
	if err != nil {
		return d.fault(n, path, "is %q: %v", text, err)
	}
	to.Set(reflect.ValueOf(l))
	return nil
}

func (d *decoder) fields(path string, n *jsonValue, to reflect.Value) error {
	if n.shape != object {
		return d.unlike(n, cmp.Or(path, "scenario"), "an object")
	}
	var names, given []string
	for f := range to.Type().Fields() {
		if name := jsonName(f); name != "" {
			names = append(names, name)
		}
	}
	for _, m := range n.members {
		inner := inside(path, m.name)
		given = append(given, m.name)
		if inner == "$schema" {
			continue // for editors
		}
		if !slices.Contains(names, m.name) {
			return d.unknown(m, inner, names)
		}
		for f, field := range to.Fields() {
			if jsonName(f) != m.name {
				continue
			}
			if err := d.value(inner, m.value, field, f.Tag.Get("range")); err != nil {
				return err
			}
		}
	}
	for f := range to.Type().Fields() {
		if name := jsonName(f); name != "" && !optional(f) && !slices.Contains(given, name) && (path != "" || !d.part) {
			want := ""
			switch t := f.Type; {
			case kinds[t] != nil:
				want = ": want " + nearest.Alternatives(kindNames(t))
			case f.Tag.Get("range") != "":
				want = ": want " + rangeOf(f.Tag.Get("range")).String()
			}
			return d.fault(n, inside(path, name), "is missing%s", want)
		}
	}
	return nil
}

func (d *decoder) items(path string, n *jsonValue, to reflect.Value, tag string) error {
	if n.shape != array {
		return d.unlike(n, path, "a list")
	}
	to.Set(reflect.MakeSlice(to.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		if err := d.value(fmt.Sprintf("%s[%d]", path, i), item, to.Index(i), tag); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) kind(path string, n *jsonValue, to reflect.Value) error {
	known := kindNames(to.Type())
	want := "an object with one key: " + nearest.Alternatives(known)
	if n.shape != object || len(n.members) != 1 {
		return d.unlike(n, path, want)
	}
	m := n.members[0]
	for _, k := range kinds[to.Type()] {
		if k.name != m.name {
			continue
		}
		v := reflect.New(reflect.TypeOf(k.zero)).Elem()
		if err := d.value(path+"."+m.name, m.value, v, ""); err != nil {
			return err
		}
		to.Set(v)
		return nil
	}
	return d.unknown(m, path+"."+m.name, known)
}
