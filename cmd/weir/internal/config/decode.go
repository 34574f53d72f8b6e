package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-go/weir/internal/nearest"
)

// plain matches names that need no quotes in the path of a field.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// A decoder fills a Config from nodes and records the place of each value.
type decoder struct {
	places map[string]place // by path of the field
	faults *faults
}

// value decodes n into v, which holds the defaults.
func (d *decoder) value(n *node, v reflect.Value, f field, path string) {
	d.places[path] = n.at
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), f, path)
	case isScalar(v.Type()):
		d.scalar(n, v, f, path)
	case v.Kind() == reflect.Struct && n.kind == object:
		fill(v)
		d.fields(n, v, path)
	case v.Kind() == reflect.Map && n.kind == object:
		v.SetZero()
		for _, m := range n.keys {
			d.entry(m, v, f, path)
		}
	case v.Kind() == reflect.Slice && n.kind == list:
		v.SetZero() // an empty one becomes nil, like a missing one
		v.Grow(len(n.items))
		v.SetLen(len(n.items))
		for i, one := range n.items {
			d.value(one, v.Index(i), f, item(path, i))
		}
	default:
		d.refuse(n, v, f, path)
	}
}

func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Pointer:
		return reflect.PointerTo(t).Implements(scalarType)
	}
	return true
}

func (d *decoder) refuse(n *node, v reflect.Value, f field, path string) {
	hint := ""
	switch {
	case n.kind == null:
		hint = "; leave it out for its default"
	case n.kind == object && v.Kind() == reflect.String:
		hint = ", in quotes if it has a colon"
	case n.kind != list && v.Kind() == reflect.String && f.words == nil:
		hint = ", in quotes"
	}
	d.faults.add(n.at, path, "is %v: want %s%s", n, f.want(v.Type()), hint)
}

func (d *decoder) fields(n *node, v reflect.Value, path string) {
	fields := fieldsOf(v.Type())
	for _, m := range n.keys {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
		if at < 0 {
			d.faults.add(m.at, join(path, m.name), "is unknown: %s", nearest.Advice(m.name, names(fields)))
			continue
		}
		d.value(m.value, v.Field(fields[at].index), fields[at], join(path, m.name))
	}
}

func (d *decoder) entry(m member, v reflect.Value, f field, path string) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	value := reflect.New(v.Type().Elem()).Elem()
	d.value(m.value, value, f, join(path, m.name))
	v.SetMapIndex(reflect.ValueOf(m.name), value)
}

func (d *decoder) scalar(n *node, v reflect.Value, f field, path string) {
	if !slices.Contains(kindsOf(v.Type(), f), n.kind) {
		d.refuse(n, v, f, path)
		return
	}
	given := reflect.New(v.Type()).Elem()
	switch err := set(given, n.text); {
	case err != nil && v.Type() == lawType:
		d.faults.add(n.at, path, "is %v: %s", n, strings.TrimPrefix(err.Error(), "law: "))
	case err != nil, f.optional && given.IsZero():
		d.refuse(n, v, f, path)
	default:
		v.Set(given)
	}
}

// kindsOf returns the kinds of nodes that a scalar may be written as. YAML reads a word such
// as 1.2 as a number.
func kindsOf(t reflect.Type, f field) []kind {
	switch {
	case t == lawType:
		return []kind{text}
	case reflect.PointerTo(t).Implements(scalarType), t.Kind() == reflect.String && f.words != nil:
		return []kind{text, number}
	case t.Kind() == reflect.Bool:
		return []kind{boolean}
	case t.Kind() == reflect.String:
		return []kind{text}
	}
	return []kind{number}
}
