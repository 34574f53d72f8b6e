package sim

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/law"
)

// Tags of the fields of a scenario give their JSON names and ranges. Checking, reading,
// writing and the schema all use them.

// A FieldError reports a wrong field of a scenario. Line is 0 if the scenario was not read from a
// file.
type FieldError struct {
	File    string // as passed to the reader
	Line    int    // from 1
	Field   string // path of the field, such as "phases[1].length"
	Problem string // the fault, and the allowed values
}

// Error returns "file:line: field problem".
func (e *FieldError) Error() string {
	text := strings.TrimSpace(e.Field + " " + e.Problem)
	if e.Line == 0 {
		return text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, text)
}

func fieldError(field, format string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// A kind is an implementation of an interface with a name in JSON, where it is an object
// with that name as its only key: {"pool": {"workers": 50}}.
type kind struct {
	name string
	zero any
}

// kinds are the implementations of an interface, in the order that errors list them.
var kinds = map[reflect.Type][]kind{
	reflect.TypeFor[Server](): {
		{"pool", WorkerPool{}},
		{"sharing", Sharing{}},
		{"usl", USL{}},
		{"quadratic", Quadratic{}},
		{"unbounded", Unbounded{}},
	},
	reflect.TypeFor[Work](): {
		{"constant", Constant{}},
		{"exponential", Exponential{}},
		{"lognormal", Lognormal{}},
		{"bimodal", Bimodal{}},
		{"pareto", Pareto{}},
	},
	reflect.TypeFor[Arrivals](): {
		{"poisson", Poisson{}},
		{"bursts", Bursts{}},
		{"diurnal", Diurnal{}},
		{"batches", Batches{}},
		{"onoff", OnOff{}},
	},
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	lawType      = reflect.TypeFor[law.Law]()
)

func kindsOf[T any]() string { return nearest.Alternatives(kindNames(reflect.TypeFor[T]())) }

func kindNames(t reflect.Type) []string {
	names := make([]string, 0, 4)
	for _, k := range kinds[t] {
		names = append(names, k.name)
	}
	return names
}

// jsonName returns the name of a field in JSON, or an empty text if JSON does not have the field.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// inside returns the path of a field of the value at a path.
func inside(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// optional reports whether a field may be left out.
func optional(f reflect.StructField) bool {
	return strings.Contains(f.Tag.Get("json"), ",omit")
}

type interval struct {
	low, high         float64
	lowOut            bool // low itself is excluded
	lowText, highText string
}

// rangeOf reads a tag such as "(0s,1h]": a round bracket excludes the low bound.
func rangeOf(tag string) interval {
	low, high, _ := strings.Cut(tag[1:len(tag)-1], ",")
	return interval{
		low: bound(low), high: bound(high), lowText: low, highText: high, lowOut: tag[0] == '(',
	}
}

func bound(text string) float64 {
	if d, err := time.ParseDuration(text); err == nil {
		return float64(d)
	}
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

func (i interval) has(v float64) bool {
	return (v > i.low || v == i.low && !i.lowOut) && v <= i.high
}

func (i interval) String() string {
	low := i.lowText
	if i.lowOut {
		low = "more than " + low
	}
	return low + " to " + i.highText
}

// check checks every field of a value against its range, recursively. The path is the path
// of the value.
func check(path string, value any) error { return checkValue(path, reflect.ValueOf(value), "") }

func checkValue(path string, v reflect.Value, tag string) error {
	switch v.Kind() {
	case reflect.Struct:
		return checkFields(path, v)
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkValue(fmt.Sprintf("%s[%d]", path, i), v.Index(i), tag); err != nil {
				return err
			}
		}
	case reflect.Interface:
		if name := nameOf(v); name != "" { // custom ones check themselves
			return checkValue(path+"."+name, v.Elem(), "")
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		return checkNumber(path, v, tag)
	}
	return nil
}

func checkFields(path string, v reflect.Value) error {
	for f, field := range v.Fields() {
		name := jsonName(f)
		if name == "" {
			continue
		}
		if err := checkValue(inside(path, name), field, f.Tag.Get("range")); err != nil {
			return err
		}
	}
	return nil
}

// nameOf returns the name of a built-in implementation, empty for custom ones, laws and nil.
func nameOf(v reflect.Value) string {
	for _, k := range kinds[v.Type()] {
		if !v.IsNil() && v.Elem().Type() == reflect.TypeOf(k.zero) {
			return k.name
		}
	}
	return ""
}

func checkNumber(path string, v reflect.Value, tag string) error {
	var number float64
	if v.CanFloat() {
		number = v.Float()
	} else {
		number = float64(v.Int())
	}
	if r := rangeOf(tag); math.IsNaN(number) || !r.has(number) {
		return fieldError(path, "is %v: want %v", v.Interface(), r)
	}
	return nil
}
