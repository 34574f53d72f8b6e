package sim

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestSchema checks that the schema matches the types: it is made from their tags and
// comments.
func TestSchema(t *testing.T) {
	s := schema{comments(t)}
	root := s.of(reflect.TypeFor[Scenario]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A scenario of weir's simulator"
	root["properties"].(map[string]any)["$schema"] = map[string]any{"type": "string"}
	text := must.Have(json.MarshalIndent(root, "", "\t"))(t)
	must.Golden(t, "scenario.schema.json", append(text, '\n'), *update)
}

// comments returns the doc comments of the types and of their fields ("Type.Field").
func comments(t *testing.T) map[string]string {
	docs := map[string]string{}
	packages := must.Have(parser.ParseDir(token.NewFileSet(), ".", nil, parser.ParseComments))(t) //nolint:staticcheck // one directory, no build tags
	ast.Inspect(packages["sim"], func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			return true
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.TypeSpec)
			docs[spec.Name.Name] = decl.Doc.Text()
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			above := ""
			for _, f := range fields.Fields.List {
				if f.Doc != nil {
					above = f.Doc.Text()
				}
				for _, name := range f.Names {
					docs[spec.Name.Name+"."+name.Name] = above
				}
			}
		}
		return true
	})
	return docs
}

type schema struct {
	docs map[string]string
}

func (s schema) describe(o map[string]any, name string) map[string]any {
	if text := strings.Join(strings.Fields(s.docs[name]), " "); text != "" {
		o["description"] = strings.NewReplacer("[", "", "]", "").Replace(text)
	}
	return o
}

func (s schema) of(t reflect.Type) map[string]any {
	switch t {
	case durationType:
		return map[string]any{"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$`}
	case lawType:
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.object(t)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Interface:
		return s.union(t)
	case reflect.Int:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	}
	return map[string]any{"type": "string"}
}

func (s schema) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for f := range t.Fields() {
		name := jsonName(f)
		if name == "" {
			continue
		}
		if !optional(f) {
			required = append(required, name)
		}
		p := s.describe(s.of(f.Type), t.Name()+"."+f.Name)
		if tag := f.Tag.Get("range"); tag != "" {
			of := p
			if items, ok := p["items"].(map[string]any); ok {
				of = items
			}
			bounds(of, f.Type, rangeOf(tag))
		}
		properties[name] = p
	}
	return s.describe(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}, t.Name())
}

// bounds adds a range. JSON schema cannot express a range of durations.
func bounds(p map[string]any, t reflect.Type, r interval) {
	if t == durationType {
		text, _ := p["description"].(string)
		p["description"] = strings.TrimSpace(text + " From " + r.String() + ".")
		return
	}
	p["minimum"], p["maximum"] = r.low, r.high
	if r.lowOut {
		delete(p, "minimum")
		p["exclusiveMinimum"] = r.low
	}
}

func (s schema) union(t reflect.Type) map[string]any {
	var choices []any
	for _, k := range kinds[t] {
		choices = append(choices, map[string]any{
			"type": "object", "required": []string{k.name}, "additionalProperties": false,
			"properties": map[string]any{k.name: s.of(reflect.TypeOf(k.zero))},
		})
	}
	return map[string]any{"oneOf": choices}
}
