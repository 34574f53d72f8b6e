package config

import (
	"errors"
	"fmt"
	"reflect"
)

// Live returns an error if a running proxy cannot change from one complete configuration to
// another. The error has one line for each field.
//
// A field with the tag live:"no" must not change in any part. A list of objects must keep its
// length; the tags of the objects' fields apply. A field with live:"cap" may change, but not
// to 0 or from 0. Objects in a map are compared by name, and may be added or removed. The
// items of a list without the tag may move, and are not compared.
func Live(old, changed *Config) error {
	var d diff
	d.object(reflect.ValueOf(old).Elem(), reflect.ValueOf(changed).Elem(), "", false)
	return errors.Join(d...)
}

type diff []error

func (d *diff) say(path, was, is string) {
	*d = append(*d, fmt.Errorf("%s was %s and is %s: restart needed", path, was, is))
}

// object compares the fields of two structs; if fixed is set, none may change.
func (d *diff) object(old, changed reflect.Value, path string, fixed bool) {
	for _, f := range fieldsOf(old.Type()) {
		path, old, changed := join(path, f.name), old.Field(f.index), changed.Field(f.index)
		if f.live == "cap" && old.IsZero() != changed.IsZero() {
			d.say(path, show(old.Interface()), show(changed.Interface()))
		}
		d.value(old, changed, path, fixed || f.live == "no")
	}
}

func (d *diff) value(old, changed reflect.Value, path string, fixed bool) {
	switch {
	case isScalar(old.Type()):
		if was, is := show(old.Interface()), show(changed.Interface()); fixed && was != is {
			d.say(path, was, is)
		}
	case old.Kind() == reflect.Struct:
		d.object(old, changed, path, fixed)
	case old.Kind() == reflect.Pointer && !old.IsNil() && !changed.IsNil():
		d.object(old.Elem(), changed.Elem(), path, fixed)
	case old.Kind() == reflect.Pointer:
		if fixed && old.IsNil() != changed.IsNil() {
			d.say(path, presence(old), presence(changed))
		}
	case old.Kind() == reflect.Map:
		for _, key := range sortedKeys(old) {
			name := reflect.ValueOf(key)
			if now := changed.MapIndex(name); now.IsValid() {
				d.value(old.MapIndex(name), now, join(path, key), fixed)
			}
		}
	case fixed:
		d.list(old, changed, path)
	}
}

func presence(v reflect.Value) string {
	if v.IsNil() {
		return "not set"
	}
	return "set"
}

func (d *diff) list(old, changed reflect.Value, path string) {
	if isScalar(old.Type().Elem()) {
		if was, is := show(old.Interface()), show(changed.Interface()); was != is {
			d.say(path, was, is)
		}
		return
	}
	if old.Len() != changed.Len() {
		d.say(path, items(old.Len()), items(changed.Len()))
	}
	for i := range min(old.Len(), changed.Len()) {
		d.value(old.Index(i), changed.Index(i), item(path, i), false)
	}
}

func items(n int) string {
	if n == 1 {
		return "a list of one"
	}
	return fmt.Sprintf("a list of %d", n)
}
