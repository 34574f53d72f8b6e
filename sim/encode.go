package sim

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/law"
)

// MarshalJSON writes the scenario in the format that [ParseScenario] reads. It leaves out a
// trace. A custom server, work, arrivals or law is an error, because it has no name in the
// format.
func (s Scenario) MarshalJSON() ([]byte, error) {
	tree, err := treeOf("scenario", reflect.ValueOf(s))
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return json.Marshal(tree)
}

// treeOf converts a value to maps, lists and plain values, which package json writes in the format.
func treeOf(path string, v reflect.Value) (any, error) {
	switch v.Type() {
	case durationType:
		return v.Interface().(time.Duration).String(), nil
	case lawType:
		text := lawText(v.Interface().(law.Law))
		if _, err := law.Parse(text); err != nil {
			return nil, fmt.Errorf("%s has no text form: %w", path, err)
		}
		return text, nil
	}
	switch v.Kind() {
	case reflect.Struct:
		return fieldsOf(path, v)
	case reflect.Slice:
		items := make([]any, v.Len())
		for i := range items {
			var err error
			if items[i], err = treeOf(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return nil, err
			}
		}
		return items, nil
	case reflect.Interface:
		return kindOf(path, v)
	}
	return v.Interface(), nil
}

func fieldsOf(path string, v reflect.Value) (any, error) {
	fields := map[string]any{}
	for f, field := range v.Fields() {
		name := jsonName(f)
		if name == "" || optional(f) && field.IsZero() {
			continue
		}
		var err error
		if fields[name], err = treeOf(path+"."+name, field); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func kindOf(path string, v reflect.Value) (any, error) {
	if name := nameOf(v); name != "" {
		value, err := treeOf(path+"."+name, v.Elem())
		return map[string]any{name: value}, err
	}
	return nil, fmt.Errorf("%s is a %T, which has no name in JSON: want %s", path, v.Interface(), nearest.Alternatives(kindNames(v.Type())))
}
