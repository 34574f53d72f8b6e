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
	places map[string]place // the fields' places in the file; nil for a Config made in Go
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
	case v.Kind() == reflect.Pointer && v.IsNil():
		return "not set"
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

// tags checks v and everything in it against the tags of the fields.
func (c *checker) tags(v reflect.Value, f field, path string) {
	switch {
	case isScalar(v.Type()):
		c.scalar(v, f, path)
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			c.tags(v.Elem(), f, path)
		}
	case v.Kind() == reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			inner := join(path, f.name)
			if f.required && isEmpty(v.Field(f.index)) {
				c.refuse(inner, "is missing: want %s", f.want(f.kind))
				continue
			}
			c.tags(v.Field(f.index), f, inner)
		}
	case v.Kind() == reflect.Map:
		for _, key := range sortedKeys(v) {
			if !namePattern.MatchString(key) {
				c.refuse(join(path, key), "has a wrong name: want "+wantName)
			}
			c.tags(v.MapIndex(reflect.ValueOf(key)), f, join(path, key))
		}
	case v.Kind() == reflect.Slice:
		f.required = true // of each item
		for i := range v.Len() {
			c.tags(v.Index(i), f, item(path, i))
		}
	}
}

// isEmpty reports whether the value is missing; an empty list counts as missing.
func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

func sortedKeys(v reflect.Value) []string {
	var keys []string
	for _, key := range v.MapKeys() {
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	return keys
}

func sortedKeysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (c *checker) scalar(v reflect.Value, f field, path string) {
	inRange := true
	switch least, most := f.limits(v.Type()); {
	case f.optional && v.IsZero():
	case f.words != nil:
		inRange = slices.Contains(f.words, v.String())
	case f.form.is != nil:
		mayBeEmpty := !f.required && f.byDefault == ""
		inRange = mayBeEmpty && v.IsZero() || f.form.is(v.String())
	case v.CanInt():
		inRange = v.Int() >= bound(v.Type(), least).Int() && v.Int() <= bound(v.Type(), most).Int()
	case v.CanFloat(): // NaN is outside every range
		inRange = v.Float() >= bound(v.Type(), least).Float() && v.Float() <= bound(v.Type(), most).Float()
	}
	if !inRange {
		c.isnt(path, v.Interface(), f.want(v.Type()))
	}
}

func bound(t reflect.Type, text string) reflect.Value {
	v := reflect.New(t).Elem()
	if err := set(v, text); err != nil {
		panic(fmt.Sprintf("config: bound %q: %v", text, err)) // a bug in this package's tags
	}
	return v
}
