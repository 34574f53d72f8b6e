package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// ParseSystem reads the scenario around a trace, like [ParseScenario], but the file may leave out
// any field of the scenario itself. The caller sets the missing fields.
func ParseSystem(file string, text []byte) (Scenario, error) { return parseScenario(file, text, true) }

func parseScenario(file string, text []byte, part bool) (Scenario, error) {
	d := decoder{file: file, text: text, json: json.NewDecoder(bytes.NewReader(text)), lines: map[string]int{}, line: 1, part: part}
	d.json.UseNumber()
	var s Scenario
	if err := d.value("", reflect.ValueOf(&s).Elem(), ""); err != nil {
		return Scenario{}, err
	}
	if _, err := d.json.Token(); !errors.Is(err, io.EOF) {
		return Scenario{}, d.fault("JSON", "has more after its end")
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

// filled returns the scenario with a value in each required field, so that the other fields can be
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

// A decoder reads JSON into Go values, token by token, and keeps the line of each field. Package
// json keeps no lines, and an error in a file of a hundred lines has to name its line.
type decoder struct {
	file  string
	text  []byte
	json  *json.Decoder
	lines map[string]int // line of each field in the file
	part  bool           // fields of the scenario may be missing

	line, counted int // the line and offset that lineAt has reached
}

// token reads the next token, which belongs to the value at the path.
func (d *decoder) token(path string) (json.Token, error) {
	token, err := d.json.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, d.fault(cmp.Or(path, "JSON"), "is wrong: %v", syntax)
	case err != nil: // io.EOF, or io.ErrUnexpectedEOF
		return nil, d.fault("JSON", "ends too early")
	}
	return token, nil
}

// lineAt returns the line of an offset. Offsets never go back, so that each line is counted once.
func (d *decoder) lineAt(offset int) int {
	d.line += bytes.Count(d.text[d.counted:offset], []byte("\n"))
	d.counted = offset
	return d.line
}

// fault returns an error at the line of the last token.
func (d *decoder) fault(path, format string, args ...any) error {
	return &FieldError{File: d.file, Line: d.lineAt(int(d.json.InputOffset())), Field: path, Problem: fmt.Sprintf(format, args...)}
}

// locate adds file and line to an error about a field. The line is the line of the innermost value
// in the file that encloses the field.
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

// unlike returns the error for a value of the wrong type that begins with the token.
func (d *decoder) unlike(token json.Token, path, want string) error {
	switch token := token.(type) {
	case json.Delim:
		is := map[json.Delim]string{'{': "an object", '[': "a list"}[token]
		return d.fault(path, "is %s: want %s", is, want)
	case nil:
		return d.fault(path, "is null: want %s", want)
	case string:
		return d.fault(path, "is %q: want %s", token, want)
	}
	return d.fault(path, "is %v: want %s", token, want)
}

// value reads a value into a field with a range tag.
func (d *decoder) value(path string, to reflect.Value, tag string) error {
	token, err := d.token(path)
	if err != nil {
		return err
	}
	d.lines[path] = d.lineAt(int(d.json.InputOffset()))
	switch {
	case to.Type() == durationType:
		return d.duration(path, token, to)
	case to.Type() == lawType:
		return d.law(path, token, to)
	}
	switch to.Kind() {
	case reflect.Struct:
		return d.fields(path, token, to)
	case reflect.Slice:
		return d.items(path, token, to, tag)
	case reflect.Interface:
		return d.kind(path, token, to)
	case reflect.String:
		text, ok := token.(string)
		if !ok {
			return d.unlike(token, path, "a text")
		}
		to.SetString(text)
	case reflect.Bool:
		on, ok := token.(bool)
		if !ok {
			return d.unlike(token, path, "true or false")
		}
		to.SetBool(on)
	case reflect.Int:
		number, _ := token.(json.Number)
		whole, err := strconv.Atoi(string(number))
		if err != nil {
			return d.unlike(token, path, "a whole number, "+rangeOf(tag).String())
		}
		to.SetInt(int64(whole))
	case reflect.Float64:
		number, _ := token.(json.Number)
		v, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			return d.unlike(token, path, "a number, "+rangeOf(tag).String())
		}
		to.SetFloat(v)
	}
	return nil
}

func (d *decoder) duration(path string, token json.Token, to reflect.Value) error {
	text, _ := token.(string)
	v, err := time.ParseDuration(text)
	if err != nil {
		return d.unlike(token, path, `a duration such as "250ms"`)
	}
	to.SetInt(int64(v))
	return nil
}

func (d *decoder) law(path string, token json.Token, to reflect.Value) error {
	text, ok := token.(string)
	if !ok {
		return d.unlike(token, path, `a law such as "band(target=200ms)"`)
	}
	l, err := law.Parse(text)
	if err != nil {
		return d.fault(path, "is %q: %v", text, err)
	}
	to.Set(reflect.ValueOf(l))
	return nil
}

func (d *decoder) fields(path string, token json.Token, to reflect.Value) error {
	if token != json.Delim('{') {
		return d.unlike(token, cmp.Or(path, "scenario"), "an object")
	}
	var names, given []string
	fields := map[string]int{}
	for i := range to.NumField() {
		if name := jsonName(to.Type().Field(i)); name != "" {
			names, fields[name] = append(names, name), i
		}
	}
	for d.json.More() {
		token, err := d.token(path)
		if err != nil {
			return err
		}
		name, _ := token.(string) // package json accepts only a text as a key
		inner := inside(path, name)
		i, known := fields[name]
		switch {
		case slices.Contains(given, name):
			return d.fault("JSON", "has %q twice", name)
		case inner == "$schema": // for editors
			err = d.value(inner, reflect.ValueOf(new(string)).Elem(), "")
		case !known:
			return d.fault(inner, "is unknown: %s", nearest.Advice(name, names))
		default:
			err = d.value(inner, to.Field(i), to.Type().Field(i).Tag.Get("range"))
		}
		if err != nil {
			return err
		}
		given = append(given, name)
	}
	if _, err := d.token(path); err != nil {
		return err
	}
	return d.missing(path, to.Type(), given)
}

// missing returns an error unless all required fields are given.
func (d *decoder) missing(path string, of reflect.Type, given []string) error {
	for f := range of.Fields() {
		name := jsonName(f)
		if name == "" || optional(f) || slices.Contains(given, name) || path == "" && d.part {
			continue
		}
		want := ""
		switch t := f.Type; {
		case kinds[t] != nil:
			want = ": want " + nearest.Alternatives(kindNames(t))
		case f.Tag.Get("range") != "":
			want = ": want " + rangeOf(f.Tag.Get("range")).String()
		}
		return &FieldError{File: d.file, Line: d.lines[path], Field: inside(path, name), Problem: "is missing" + want}
	}
	return nil
}

func (d *decoder) items(path string, token json.Token, to reflect.Value, tag string) error {
	if token != json.Delim('[') {
		return d.unlike(token, path, "a list")
	}
	to.Set(reflect.MakeSlice(to.Type(), 0, 0))
	for d.json.More() {
		item := reflect.New(to.Type().Elem()).Elem()
		if err := d.value(fmt.Sprintf("%s[%d]", path, to.Len()), item, tag); err != nil {
			return err
		}
		to.Set(reflect.Append(to, item))
	}
	_, err := d.token(path)
	return err
}

func (d *decoder) kind(path string, token json.Token, to reflect.Value) error {
	known := kindNames(to.Type())
	want := "an object with one key: " + nearest.Alternatives(known)
	if token != json.Delim('{') || !d.json.More() {
		return d.unlike(token, path, want)
	}
	key, err := d.token(path)
	if err != nil {
		return err
	}
	name, _ := key.(string)
	i := slices.IndexFunc(kinds[to.Type()], func(k kind) bool { return k.name == name })
	if i < 0 {
		return d.fault(path+"."+name, "is unknown: %s", nearest.Advice(name, known))
	}
	v := reflect.New(reflect.TypeOf(kinds[to.Type()][i].zero)).Elem()
	if err := d.value(path+"."+name, v, ""); err != nil {
		return err
	}
	if d.json.More() {
		return d.unlike(token, path, want)
	}
	to.Set(v)
	_, err = d.token(path)
	return err
}
