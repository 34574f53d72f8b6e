package config

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

const (
	// durationForm matches the non-negative durations of time.ParseDuration.
	durationForm = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

	bytesForm = `^[0-9]+([KMG]iB)?$`
)

type definer map[string]any // of the structs, by name

func (d definer) of(t reflect.Type, f field) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer:
		return d.of(t.Elem(), f)
	case t == durationType:
		written := map[string]any{"type": "string", "pattern": durationForm}
		if f.min != "" {
			return written
		}
		return map[string]any{"anyOf": []any{written, map[string]any{"const": 0}}}
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
	must.Golden(t, "schema.json", string(made)+"\n", *update)
	if !*update && string(Schema()) != string(made)+"\n" {
		t.Error("Schema returns something else")
	}
}

var update = flag.Bool("update", false, "write the schema and the documentation anew")

const preface = `# The file of weir proxy

The proxy reads its settings from a YAML file: ` + "`weir proxy --config weir.yaml`" + `.
[The proxy](proxy.md) explains them, and [deploy/weir.yaml](../deploy/weir.yaml) has an example of each
section. ` + "`weir check weir.yaml`" + ` finds the errors in a file. ` + "`weir schema`" + ` prints its JSON schema, with
which an editor completes names:

` + "```yaml\n# yaml-language-server: $schema=weir.schema.json\n```" + `

The file may have plain values, lists and objects, but no anchors, aliases, merge keys, tags, octal
numbers such as 010 or further documents. Quote a text with a colon between brackets, such as a URL in a
list on one line.

## Settings

A reload applies all settings except those with *restart*, and may add and remove upstreams and
compartments. Without other bounds, a number may be from 0 to 1,000,000,000, a time from 0 to 8760h, and
a size from 0 to 1024GiB. ` + "`go test ./cmd/weir/internal/config -update`" + ` writes these tables.
`

type reference struct {
	strings.Builder
	done map[reflect.Type]bool
}

func (r *reference) section(t reflect.Type, path string) {
	fmt.Fprintf(r, "\n### %s\n\n| name | default | allowed | |\n|---|---|---|---|\n", cmp.Or(path, "The file"))
	for _, f := range fieldsOf(t) {
		fmt.Fprintf(r, "| `%s` | %s | %s | %s%s |\n", f.name, code(f.byDefault), f.allowed(), strings.ReplaceAll(f.help, "|", `\|`), restart(f))
	}
	for _, f := range fieldsOf(t) {
		inner, path := f.kind, join(path, f.name)
		switch inner.Kind() {
		case reflect.Map:
			inner, path = inner.Elem(), path+".NAME"
		case reflect.Slice:
			inner, path = inner.Elem(), path+"[]"
		case reflect.Pointer:
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != lawType && !r.done[inner] {
			r.done[inner] = true
			r.section(inner, path)
		}
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func (f field) allowed() string {
	kind := f.kind
	prefix := ""
	if kind.Kind() == reflect.Slice {
		kind, prefix = kind.Elem(), "list: "
	}
	switch {
	case kind == lawType:
		prefix += "a control law"
	case f.words != nil:
		prefix += "`" + strings.Join(f.words, "`, `") + "`"
	case kind.Kind() == reflect.Struct, kind.Kind() == reflect.Pointer:
		prefix += "object"
	case kind.Kind() == reflect.Map:
		prefix += "objects by name"
	case kind == durationType:
		prefix += "time" + f.bounds(kind, "0", "8760h")
	case kind == bytesType:
		prefix += "size" + f.bounds(kind, "0", "1024GiB")
	case kind.Kind() == reflect.Bool:
		prefix += "boolean"
	case kind.Kind() == reflect.Int, kind.Kind() == reflect.Float64:
		prefix += "number" + f.bounds(kind, "0", "1000000000")
	default:
		prefix += "text"
	}
	if f.required && f.byDefault == "" {
		prefix += "; required"
	}
	return prefix
}

// bounds returns the bounds of a field that differ from the usual ones.
func (f field) bounds(kind reflect.Type, usualLeast, usualMost string) string {
	least, most := f.limits(kind)
	switch {
	case most != usualMost:
		return " from " + least + " to " + most
	case least != usualLeast:
		return " from " + least
	}
	return ""
}

func restart(f field) string {
	switch {
	case f.live == "cap":
		return " *Restart* to add or remove it."
	case f.live == "no" && f.kind.Kind() == reflect.Slice && !isScalar(f.kind.Elem()):
		return " *Restart* for more or fewer entries."
	case f.live == "no":
		return " *Restart.*"
	}
	return ""
}

func TestReferenceIsUpToDate(t *testing.T) {
	r := reference{done: map[reflect.Type]bool{}}
	r.WriteString(preface)
	r.section(reflect.TypeFor[Config](), "")
	must.Golden(t, "../../../../docs/proxy-config.md", r.String(), *update)
}

// TestTags checks the tags against the documentation of the package and of Live.
func TestTags(t *testing.T) {
	var walk func(t reflect.Type, path string, moves bool)
	walk = func(kind reflect.Type, path string, moves bool) {
		if kind.Kind() != reflect.Struct || kind == lawType {
			return
		}
		for _, f := range fieldsOf(kind) {
			path := join(path, f.name)
			switch {
			case (f.form.is == nil) != (kind.Field(f.index).Tag.Get("form") == ""):
				t.Errorf("%s: there is no such form", path)
			case f.name == "" || !strings.HasSuffix(f.help, "."):
				t.Errorf("%s: want a name and a sentence of help", path)
			case moves && f.live != "":
				t.Errorf("%s: is in a list of which the items may move, so that Live cannot compare it", path)
			case f.live != "" && f.live != "no" && f.live != "cap":
				t.Errorf("%s: live is %q", path, f.live)
			}
			inner, list := f.kind, f.kind.Kind() == reflect.Slice
			for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map || inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			walk(inner, path, moves || list && f.live == "")
		}
	}
	walk(reflect.TypeFor[Config](), "", false)
}
