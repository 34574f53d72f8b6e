package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Live returns an error if a running proxy cannot change from one complete configuration to
// another. The error has one line for each field.
//
// A field with the tag live:"no" must not change in any part. A list of objects must keep its
// length; the tags of the objects' fields apply. A field with live:"cap" may change, but not
// to 0 or from 0. Objects in a map are compared by name, and may be added or removed. The
// items of a list without the tag may move, and are not compared.
func Live(old, changed *Config) error {
	now := map[string]string{}
	for _, is := range fixedIn(changed) {
		now[is.path] = is.text
	}
	var wrong []error
	for _, was := range fixedIn(old) {
		is, there := now[was.path]
		stays := is == was.text || was.isCap && is != "0" && was.text != "0"
		if there && !stays {
			wrong = append(wrong, fmt.Errorf("%s was %s and is %s: restart needed", was.path, was.text, is))
		}
	}
	return errors.Join(wrong...)
}

// A setting is a part of a configuration that a running proxy cannot change.
type setting struct {
	path, text string
	isCap      bool // may change, but not to 0 or from 0
}

// fixedIn lists the settings that a running proxy cannot change, in the order of their fields.
func fixedIn(c *Config) (all []setting) {
	var add func(v reflect.Value, path string, fixed bool)
	add = func(v reflect.Value, path string, fixed bool) {
		say := func(text string) {
			if fixed {
				all = append(all, setting{path: path, text: text})
			}
		}
		switch {
		case isScalar(v.Type()), v.Kind() == reflect.Slice && isScalar(v.Type().Elem()):
			say(show(v.Interface()))
		case v.Kind() == reflect.Pointer && v.IsNil():
			say("not set")
		case v.Kind() == reflect.Pointer:
			say("set")
			add(v.Elem(), path, fixed)
		case v.Kind() == reflect.Struct:
			for _, f := range fieldsOf(v.Type()) {
				path, v := join(path, f.name), v.Field(f.index)
				if f.live == "cap" {
					all = append(all, setting{path, show(v.Interface()), true})
				}
				add(v, path, fixed || f.live == "no")
			}
		case v.Kind() == reflect.Map:
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
			for _, key := range keys {
				add(v.MapIndex(key), join(path, key.String()), fixed)
			}
		case fixed:
			say(fmt.Sprintf("a list of %d", v.Len()))
			for i := range v.Len() {
				add(v.Index(i), item(path, i), false)
			}
		}
	}
	add(reflect.ValueOf(c).Elem(), "", false)
	return all
}
