package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/weir-go/weir/cmd/weir/internal/yamladvice"
	"github.com/weir-go/weir/sim"
)

// jsonOf translates YAML to JSON and keeps each name and value on its line, so that
// sim.ParseScenario, which is strict, reports the right line. It refuses anchors, tags and
// several documents: no scenario needs them.
func jsonOf(file string, text []byte) ([]byte, error) {
	parsed, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) // sim reports duplicates
	var syntax yaml.Error
	switch {
	case errors.As(err, &syntax) && syntax.GetToken() != nil:
		return nil, yamlFault(file, syntax.GetToken().Position.Line, "is wrong: %s", yamladvice.To(syntax.GetMessage()))
	case err != nil:
		return nil, yamlFault(file, 1, "is wrong: %v", err)
	}
	t := &translator{file: file, line: 1}
	var body ast.Node
	for _, document := range parsed.Docs {
		switch {
		case document.Body == nil:
		case body != nil:
			return nil, yamlFault(file, lineOf(document.Body), "has more after its end: want one document")
		default:
			body = document.Body
		}
	}
	if body == nil {
		return nil, yamlFault(file, 1, "is empty: want a scenario")
	}
	if err := t.value(body, 0); err != nil {
		return nil, err
	}
	return t.out.Bytes(), nil
}

func yamlFault(file string, line int, format string, args ...any) error {
	return &sim.FieldError{File: file, Line: line, Field: "YAML", Problem: fmt.Sprintf(format, args...)}
}

func lineOf(n ast.Node) int { return n.GetToken().Position.Line }

// A translator writes JSON and counts its lines.
type translator struct {
	file string
	out  bytes.Buffer
	line int
}

// deepest bounds the nesting. A scenario has four levels.
const deepest = 100

func (t *translator) value(n ast.Node, depth int) error {
	if depth > deepest {
		return yamlFault(t.file, lineOf(n), "is nested too deeply: want %d levels at most", deepest)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return t.object(n, n.Values, depth)
	case *ast.MappingValueNode:
		return t.object(n, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return t.list(n, depth)
	case *ast.NullNode:
		t.write(n, nil)
	case *ast.StringNode:
		t.write(n, n.Value)
	case *ast.LiteralNode:
		t.write(n, n.Value.Value)
	case *ast.BoolNode:
		t.write(n, n.Value)
	case *ast.IntegerNode:
		t.write(n, n.Value)
	case *ast.FloatNode:
		t.write(n, n.Value)
	case *ast.InfinityNode, *ast.NanNode:
		t.write(n, n.GetToken().Value) // as text, which is refused in place of a number
	default:
		return yamlFault(t.file, lineOf(n), "has %q: want plain values, lists and objects", n.GetToken().Value)
	}
	return nil
}

func (t *translator) object(n ast.Node, members []*ast.MappingValueNode, depth int) error {
	if len(members) > 0 {
		n = members[0].Key // the token of a block mapping is its first colon
	}
	t.advance(n)
	t.out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			t.out.WriteByte(',')
		}
		if m.Key.IsMergeKey() {
			return yamlFault(t.file, lineOf(m.Key), `has "<<": want plain values, lists and objects`)
		}
		t.write(m.Key, m.Key.GetToken().Value)
		t.out.WriteByte(':')
		if err := t.value(m.Value, depth+1); err != nil {
			return err
		}
	}
	t.out.WriteByte('}')
	return nil
}

func (t *translator) list(n *ast.SequenceNode, depth int) error {
	t.advance(n)
	t.out.WriteByte('[')
	for i, item := range n.Values {
		if i > 0 {
			t.out.WriteByte(',')
		}
		if err := t.value(item, depth+1); err != nil {
			return err
		}
	}
	t.out.WriteByte(']')
	return nil
}

func (t *translator) write(n ast.Node, value any) {
	t.advance(n)
	text, err := json.Marshal(value)
	if err != nil {
		text, _ = json.Marshal(fmt.Sprint(value)) // as text, which is refused at its line
	}
	t.out.Write(text)
}

func (t *translator) advance(to ast.Node) {
	for ; t.line < lineOf(to); t.line++ {
		t.out.WriteByte('\n')
	}
}
