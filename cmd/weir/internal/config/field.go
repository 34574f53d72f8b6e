package config

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/internal/settings"
)

// A field holds the tags of a struct's field; see the documentation of the package.
type field struct {
	index     int
	name      string
	help      string
	byDefault string
	words     []string // enum
	form      form
	min, max  string
	required  bool
	optional  bool // 0 means the library's default, and cannot be written
	live      string
	kind      reflect.Type
}

func fieldsOf(t reflect.Type) (fields []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, omit, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		made := field{
			index: i, name: name, help: f.Tag.Get("help"), byDefault: f.Tag.Get("default"), form: forms[f.Tag.Get("form")],
			min: f.Tag.Get("min"), max: f.Tag.Get("max"),
			required: f.Tag.Get("required") == "yes", optional: omit == "omitempty", live: f.Tag.Get("live"), kind: f.Type,
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			made.words = strings.Split(enum, ",")
		}
		fields = append(fields, made)
	}
	return fields
}

var (
	durationType = reflect.TypeFor[Duration]()
	bytesType    = reflect.TypeFor[Bytes]()
	lawType      = reflect.TypeFor[Law]()
	scalarType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// limits returns the bounds of a field as written in the file. Without tags they are 0 and
// the largest value of the kind.
func (f field) limits(t reflect.Type) (least, most string) {
	switch {
	case t == durationType:
		most = "8760h" // a year, so that adding it to a time does not overflow
	case t == bytesType:
		most = "1024GiB"
	case t.Kind() == reflect.Int:
		most = strconv.Itoa(settings.MaxSlots)
	case t.Kind() == reflect.Float64:
		most = "1000000"
	default:
		return "", ""
	}
	return cmp.Or(f.min, "0"), cmp.Or(f.max, most)
}

// want describes the allowed values of type t in the field, or in its list or object.
func (f field) want(t reflect.Type) string {
	least, most := f.limits(t)
	switch {
	case f.words != nil && t.Kind() == reflect.String:
		return nearest.Alternatives(f.words)
	case f.form.is != nil && t.Kind() == reflect.String:
		return f.form.want
	case t == durationType:
		return fmt.Sprintf("a time such as 500ms, from %s to %s", least, most)
	case t == bytesType:
		return fmt.Sprintf("a size such as 64KiB, from %s to %s", least, most)
	case t == lawType:
		return "a control law such as setpoint or band(target=100ms)"
	case t.Kind() == reflect.Pointer:
		return f.want(t.Elem())
	}
	switch t.Kind() {
	case reflect.Int:
		return fmt.Sprintf("a whole number from %s to %s", least, most)
	case reflect.Float64:
		return fmt.Sprintf("a number from %s to %s", least, most)
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "an object of names"
	case reflect.Struct:
		return "an object with " + nearest.Alternatives(names(fieldsOf(t)))
	}
	return "a text"
}

// allows reports whether the field, or its list, may have a value.
func (f field) allows(v reflect.Value) bool {
	switch least, most := f.limits(v.Type()); {
	case f.words != nil:
		return slices.Contains(f.words, v.String())
	case f.form.is != nil:
		mayBeEmpty := !f.required && f.byDefault == ""
		return mayBeEmpty && v.IsZero() || f.form.is(v.String())
	case v.CanInt():
		return v.Int() >= bound(v.Type(), least).Int() && v.Int() <= bound(v.Type(), most).Int()
	case v.CanFloat(): // NaN is outside every range
		return v.Float() >= bound(v.Type(), least).Float() && v.Float() <= bound(v.Type(), most).Float()
	}
	return true
}

func bound(t reflect.Type, text string) reflect.Value {
	v := reflect.New(t).Elem()
	if err := set(v, text); err != nil {
		panic(fmt.Sprintf("config: bound %q: %v", text, err)) // a bug in this package's tags
	}
	return v
}

func names(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func set(v reflect.Value, text string) error {
	if reader, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return reader.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		parsed, err := strconv.ParseBool(text)
		v.SetBool(parsed)
		return err
	case reflect.Int:
		parsed, err := strconv.Atoi(text)
		v.SetInt(int64(parsed))
		return err
	case reflect.Float64:
		parsed, err := parseDecimal(text)
		v.SetFloat(parsed)
		return err
	}
	return nil
}

// parseDecimal reads any number of YAML that is decimal. It refuses 1_000, as strconv.Atoi does.
func parseDecimal(text string) (float64, error) {
	if strings.Contains(text, "_") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

// New returns a T with the defaults of its fields, such as New[Route](), as if read from an
// empty section.
func New[T any]() T {
	var made T
	fill(reflect.ValueOf(&made).Elem())
	return made
}

// fill sets all fields to their defaults.
func fill(v reflect.Value) {
	if v.Kind() != reflect.Struct || v.Type() == lawType {
		return
	}
	for _, f := range fieldsOf(v.Type()) {
		to := v.Field(f.index)
		switch {
		case f.byDefault == "":
			fill(to)
		case to.Kind() == reflect.Slice:
			to.Set(reflect.ValueOf(strings.Split(f.byDefault, ",")))
		default:
			if err := set(to, f.byDefault); err != nil {
				panic(fmt.Sprintf("config: default of %s: %v", f.name, err)) // a bug in this package's tags
			}
		}
	}
}
