package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// String returns a snapshot as JSON, which makes its owner an expvar.Var.
func String(snapshot any) string {
	text, err := JSON(snapshot)
	if err != nil {
		return fmt.Sprintf("{%q:%q}", "error", err)
	}
	return string(text)
}

// JSON writes a snapshot, also one whose MarshalJSON calls it. A field has the name of its "wire"
// tag or, without one, its own in lower case with underscores. A duration is in milliseconds, an
// error is its text, and a number that is not finite is null.
func JSON(snapshot any) ([]byte, error) {
	v := reflect.ValueOf(snapshot)
	switch v.Kind() {
	case reflect.Struct:
		var names []string
		var values []reflect.Value
		for field, value := range v.Fields() {
			if field.IsExported() {
				names, values = append(names, nameOf(field)), append(values, value)
			}
		}
		return object(names, values)
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		names, values := make([]string, len(keys)), make([]reflect.Value, len(keys))
		for i, key := range keys {
			names[i], values[i] = fmt.Sprint(key), v.MapIndex(key)
		}
		return object(names, values)
	case reflect.Slice:
		text := []byte{'['}
		for i, value := range v.Seq2() {
			if i.Int() > 0 {
				text = append(text, ',')
			}
			element, err := valueOf(value)
			if err != nil {
				return nil, err
			}
			text = append(text, element...)
		}
		return append(text, ']'), nil
	}
	return json.Marshal(snapshot)
}

func object(names []string, values []reflect.Value) ([]byte, error) {
	text := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			text = append(text, ',')
		}
		key, _ := json.Marshal(name) // a text has no error
		value, err := valueOf(values[i])
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, key...), ':'), value...)
	}
	return append(text, '}'), nil
}

// valueOf writes a part of a snapshot.
func valueOf(v reflect.Value) ([]byte, error) {
	switch value := v.Interface().(type) {
	case time.Duration:
		return json.Marshal(float64(value) / float64(time.Millisecond))
	case error:
		return json.Marshal(value.Error())
	case json.Marshaler, encoding.TextMarshaler:
		return json.Marshal(value)
	case fmt.Stringer:
		if v.Kind() != reflect.Struct {
			return json.Marshal(value.String())
		}
	case float64:
		if math.IsInf(value, 0) || math.IsNaN(value) {
			return []byte("null"), nil
		}
	}
	return JSON(v.Interface())
}

// nameOf is the name of a field: drain_rate of DrainRate, age_ms of a duration named Age.
func nameOf(field reflect.StructField) string {
	if name, tagged := field.Tag.Lookup("wire"); tagged {
		return name
	}
	var name strings.Builder
	small := false // whether the letter before is lower case
	for _, letter := range field.Name {
		if small && unicode.IsUpper(letter) {
			name.WriteByte('_')
		}
		small = unicode.IsLower(letter)
		name.WriteRune(unicode.ToLower(letter))
	}
	if field.Type == reflect.TypeFor[time.Duration]() {
		name.WriteString("_ms")
	}
	return name.String()
}
