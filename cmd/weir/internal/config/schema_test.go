package config

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// durationForm matches the non-negative durations of time.ParseDuration.
const durationForm = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// A definer writes the JSON schema of types.
type definer map[string]any // of the structs, by name

func (d definer) of(t reflect.Type, f field) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer:
		return d.of(t.Elem(), f)
	case t == durationType:
		return either(f.min == "", 0, durationForm)
	case t == bytesType:
		return map[string]any{"anyOf": []any{map[string]any{"type": "string", "pattern": bytesForm}, map[string]any{"type": "integer", "minimum": 0}}}
	case t == lawType:
		return map[string]any{"type": "string", "minLength": 1}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int:
		return d.number("integer", t, f)
	case reflect.Float64:
		return d.number("number", t, f)
	case reflect.Slice:
		return d.list(t, f)
	case reflect.Map:
		return d.names(t, f)
	case reflect.Struct:
		d.define(t)
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	}
	return textOf(f)
}

func either(zero bool, number int, pattern string) map[string]any {
	written := map[string]any{"type": "string", "pattern": pattern}
	if !zero {
		return written
	}
	return map[string]any{"anyOf": []any{written, map[string]any{"const": number}}}
}

// textOf also allows a word that YAML reads as a number, such as 1.2.
func textOf(f field) map[string]any {
	made := map[string]any{"type": "string"}
	if f.required {
		made["minLength"] = 1
	}
	if f.words == nil {
		return made
	}
	var words []any
	for _, word := range f.words {
		words = append(words, word)
		if _, err := strconv.ParseFloat(word, 64); err == nil {
			words = append(words, json.Number(word))
		}
	}
	return map[string]any{"enum": words}
}

func (d definer) number(kind string, t reflect.Type, f field) map[string]any {
	least, most := f.limits(t)
	return map[string]any{"type": kind, "minimum": json.Number(least), "maximum": json.Number(most)}
}

func (d definer) list(t reflect.Type, f field) map[string]any {
	made := map[string]any{"type": "array", "items": d.of(t.Elem(), field{words: f.words})}
	if f.required || f.words != nil {
		made["minItems"] = 1
	}
	return made
}

func (d definer) names(t reflect.Type, f field) map[string]any {
	made := map[string]any{
		"type": "object", "additionalProperties": d.of(t.Elem(), field{}), "propertyNames": map[string]any{"pattern": nameForm},
	}
	if f.required {
		made["minProperties"] = 1
	}
	return made
}

func (d definer) define(t reflect.Type) {
	if d[t.Name()] != nil {
		return
	}
	made := map[string]any{}
	d[t.Name()] = made
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		property := d.of(f.kind, f)
		property["description"] = f.help
		if f.byDefault != "" {
			property["default"] = defaultOf(f)
		}
		properties[f.name] = property
		if f.required && f.byDefault == "" {
			required = append(required, f.name)
		}
	}
	made["type"], made["additionalProperties"], made["properties"] = "object", false, properties
	if len(required) > 0 {
		made["required"] = required
	}
}

func defaultOf(f field) any {
	switch f.kind.Kind() {
	case reflect.Slice:
		return strings.Split(f.byDefault, ",")
	case reflect.Bool:
		return f.byDefault == "true"
	case reflect.Int, reflect.Float64:
		return json.Number(f.byDefault)
	}
	return f.byDefault
}

func TestSchemaIsUpToDate(t *testing.T) {
	d := definer{}
	d.define(reflect.TypeFor[Config]())
	root := d["Config"].(map[string]any)
	delete(d, "Config")
	root["$schema"], root["$defs"] = "https://json-schema.org/draft/2020-12/schema", d
	root["$id"], root["title"] = "https://github.com/weir-go/weir/raw/main/cmd/weir/internal/config/schema.json", "The file of weir proxy"
	made := must.Have(json.MarshalIndent(root, "", "  "))(t)
	golden(t, "schema.json", string(made)+"\n")
	if !*update && string(Schema()) != string(made)+"\n" {
		t.Error("Schema returns something else")
	}
}
