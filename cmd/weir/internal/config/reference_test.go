package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const preface = `# The file of weir proxy

The proxy reads its settings from a YAML file: ` + "`weir proxy --config weir.yaml`" + `.
[deploy/weir.yaml](../deploy/weir.yaml) has an example of each section. ` + "`weir check weir.yaml`" + ` says
what is wrong with a file, and ` + "`weir schema`" + ` prints its JSON schema. With the schema in a file, an
editor completes names:

` + "```yaml\n# yaml-language-server: $schema=weir.schema.json\n```" + `

The file has plain values, lists and objects: anchors, aliases, merge keys, tags, and several
documents are refused. A text with a colon between brackets, such as a URL in a list on one line,
takes quotes.

## Settings

A reload applies all but those with "yes" below *Restart*. In a list of objects with "number" their
number needs a restart. A "yes" of an object holds for all that is in it. Upstreams and compartments
may come and go.

These tables are written by ` + "`go test ./cmd/weir/internal/config -update`" + ` from the types.
`

// A reference writes the tables of types.
type reference struct {
	strings.Builder
	done map[reflect.Type]bool
}

func (r *reference) section(t reflect.Type, path string) {
	fmt.Fprintf(r, "\n### %s\n\n| name | default | allowed | restart | |\n|---|---|---|---|---|\n", cmp.Or(path, "The file"))
	for _, f := range fieldsOf(t) {
		fmt.Fprintf(r, "| `%s` | %s | %s | %s | %s |\n", f.name, code(f.byDefault), f.allowed(), restart(f), strings.ReplaceAll(f.help, "|", `\|`))
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

// allowed returns want as worded in a table.
func (f field) allowed() string {
	kind := f.kind
	prefix := ""
	if kind.Kind() == reflect.Slice {
		kind, prefix = kind.Elem(), "list of: "
	}
	least, most := f.limits(kind)
	switch {
	case kind == lawType:
		prefix += "a control law"
	case f.words != nil:
		prefix += "`" + strings.Join(f.words, "`, `") + "`"
	case kind.Kind() == reflect.Struct, kind.Kind() == reflect.Pointer:
		prefix += "an object"
	case kind.Kind() == reflect.Map:
		prefix += "objects by name"
	case kind == durationType:
		prefix += "time, " + least + " to " + most
	case kind == bytesType:
		prefix += "size, " + least + " to " + most
	case kind.Kind() == reflect.Bool:
		prefix += "`true`, `false`"
	case least != "":
		prefix += least + " to " + most
	default:
		prefix += "text"
	}
	if f.required && f.byDefault == "" {
		prefix += "; required"
	}
	return prefix
}

func restart(f field) string {
	switch {
	case f.live == "cap":
		return "to and from 0"
	case f.live == "no" && f.kind.Kind() == reflect.Slice && !isScalar(f.kind.Elem()):
		return "number"
	case f.live == "no":
		return "yes"
	}
	return ""
}

func TestReferenceIsUpToDate(t *testing.T) {
	r := reference{done: map[reflect.Type]bool{}}
	r.WriteString(preface)
	r.section(reflect.TypeFor[Config](), "")
	golden(t, "../../../../docs/proxy-config.md", r.String())
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
