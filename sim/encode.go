package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/law"
)

// MarshalJSON writes the scenario in the format that [ParseScenario] reads. It leaves out a
// trace. A custom server, work, arrivals or law is an error, because it has no name in the
// format.
func (s Scenario) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := encode(&b, "scenario", reflect.ValueOf(s)); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return b.Bytes(), nil
}

func encode(b *bytes.Buffer, path string, v reflect.Value) error {
	switch {
	case v.Type() == durationType:
		fmt.Fprintf(b, "%q", v.Interface())
		return nil
	case v.Type() == lawType:
		text := lawText(v.Interface().(law.Law))
		if _, err := law.Parse(text); err != nil {
			return fmt.Errorf("%s has no text form: %w", path, err)
		}
		fmt.Fprintf(b, "%q", text)
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		return encodeFields(b, path, v)
	case reflect.Slice:
		return encodeItems(b, path, v)
	case reflect.Interface:
		return encodeKind(b, path, v)
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	b.Write(text)
	return nil
}

func encodeFields(b *bytes.Buffer, path string, v reflect.Value) error {
	separator := "{"
	for f, field := range v.Fields() {
		name := jsonName(f)
		if name == "" || optional(f) && field.IsZero() {
			continue
		}
		fmt.Fprintf(b, "%s%q:", separator, name)
		separator = ","
		if err := encode(b, path+"."+name, field); err != nil {
			return err
		}
	}
	if separator == "{" {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return nil
}

func encodeItems(b *bytes.Buffer, path string, v reflect.Value) error {
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encode(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func encodeKind(b *bytes.Buffer, path string, v reflect.Value) error {
	for _, k := range kinds[v.Type()] {
		if v.IsNil() || v.Elem().Type() != reflect.TypeOf(k.zero) {
			continue
		}
		fmt.Fprintf(b, "{%q:", k.name)
		err := encode(b, path+"."+k.name, v.Elem())
		b.WriteByte('}')
		return err
	}
	return fmt.Errorf("%s is a %T, which has no name in JSON: want %s", path, v.Interface(), nearest.Alternatives(kindNames(v.Type())))
}
