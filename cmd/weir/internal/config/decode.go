package config

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/weir-go/weir/internal/nearest"
)

// plain matches names that need no quotes in the path of a field.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// A decoder fills a Config from YAML and records the place of each value.
type decoder struct {
	origin place
	places map[string]place // by path of the field
	faults *faults
}

// value decodes n into v, which holds the defaults.
func (d *decoder) value(n ast.Node, v reflect.Value, f field, path string) {
	d.places[path] = placed(d.origin, beginning(n).GetToken())
	switch k := kindOf(n); {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), f, path)
	case isScalar(v.Type()):
		d.scalar(n, v, f, path)
	case v.Kind() == reflect.Struct && k == object:
		fill(v)
		d.fields(n, v, path)
	case v.Kind() == reflect.Map && k == object:
		d.entries(n, v, f, path)
	case v.Kind() == reflect.Slice && k == list:
		items := n.(*ast.SequenceNode).Values
		v.SetZero() // an empty list becomes nil, like a missing list
		v.Grow(len(items))
		v.SetLen(len(items))
		f.required = true // of each item
		for i, one := range items {
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

func (d *decoder) refuse(n ast.Node, v reflect.Value, f field, path string) {
	hint := ""
	switch k := kindOf(n); {
	case k == null:
		hint = "; leave it out for its default"
	case k == object && v.Kind() == reflect.String:
		hint = ", in quotes if it has a colon"
	case k != list && v.Kind() == reflect.String && f.words == nil:
		hint = ", in quotes"
	}
	d.faults.add(d.places[path], path, "is %s: want %s%s", shown(n), f.want(v.Type()), hint)
}

// members calls each with the members of an object, and adds a fault for a name that is there
// a second time.
func (d *decoder) members(n ast.Node, path string, each func(name string, at place, value ast.Node)) {
	seen := map[string]place{}
	for _, m := range membersOf(n) {
		name, at := m.Key.GetToken().Value, placed(d.origin, m.Key.GetToken())
		if first, again := seen[name]; again {
			d.faults.add(at, join(path, name), "is there a second time%s", line(first))
			continue
		}
		seen[name] = at
		each(name, at, m.Value)
	}
}

func (d *decoder) fields(n ast.Node, v reflect.Value, path string) {
	fields := fieldsOf(v.Type())
	d.members(n, path, func(name string, at place, value ast.Node) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			d.faults.add(at, join(path, name), "is unknown: %s", nearest.Advice(name, names(fields)))
			return
		}
		d.value(value, v.Field(fields[i].index), fields[i], join(path, name))
	})
	for _, f := range fields {
		if inner := join(path, f.name); f.required && isEmpty(v.Field(f.index)) && !d.faults.cover(inner) {
			at := cmp.Or(d.places[inner], d.places[path])
			d.faults.add(at, inner, "is missing: want %s", f.want(f.kind))
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

func (d *decoder) entries(n ast.Node, v reflect.Value, f field, path string) {
	d.members(n, path, func(name string, _ place, member ast.Node) {
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		if !namePattern.MatchString(name) {
			d.faults.add(placed(d.origin, beginning(member).GetToken()), join(path, name), "has a wrong name: want "+wantName)
		}
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(member, value, f, join(path, name))
		v.SetMapIndex(reflect.ValueOf(name), value)
	})
}

func (d *decoder) scalar(n ast.Node, v reflect.Value, f field, path string) {
	if !slices.Contains(kindsOf(v.Type(), f), kindOf(n)) {
		d.refuse(n, v, f, path)
		return
	}
	given := reflect.New(v.Type()).Elem()
	switch err := set(given, written(n)); {
	case err != nil && v.Type() == lawType:
		d.faults.add(d.places[path], path, "is %s: %s", shown(n), strings.TrimPrefix(err.Error(), "law: "))
	case err != nil, f.optional && given.IsZero():
		d.refuse(n, v, f, path)
	default:
		v.Set(given)
		if !f.allows(given) {
			d.faults.add(d.places[path], path, "is %s: want %s", show(given.Interface()), f.want(v.Type()))
		}
	}
}

// kindsOf returns the kinds of values that a scalar may be written as. YAML reads a word such
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
