package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

type kind int

const (
	object kind = iota
	list
	text
	number
	boolean
	null
)

// A node is a value of YAML with its place.
type node struct {
	kind  kind
	text  string // of a text, a number or a boolean
	items []*node
	keys  []member
	at    place
}

// A member of an object.
type member struct {
	name  string
	at    place
	value *node
}

// String returns the value as an error shows it.
func (n *node) String() string {
	switch n.kind {
	case object:
		return "an object"
	case list:
		return "a list"
	case null:
		return "empty"
	case text:
		return quoted(n.text)
	}
	return n.text
}

// longestShown is the longest part of a value that an error shows.
const longestShown = 60

// quoted shortens a text that is too long to read.
func quoted(s string) string {
	if runes := []rune(s); len(runes) > longestShown {
		s = string(runes[:longestShown]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

func (n *node) member(name string) *member {
	for i := range n.keys {
		if n.keys[i].name == name {
			return &n.keys[i]
		}
	}
	return nil
}

// deepest bounds the nesting. A configuration has five levels.
const deepest = 20

// A builder turns the parser's result into nodes.
type builder struct {
	origin place
	faults *faults
}

func (b builder) place(n ast.Node) place {
	at, position := b.origin, n.GetToken().Position
	at.line, at.column = position.Line, position.Column
	return at
}

// node returns nil, and adds a fault, for YAML that no configuration has.
func (b builder) node(n ast.Node, path string, depth int) *node {
	at := b.place(n)
	if depth > deepest {
		b.faults.add(at, path, "is nested too deeply: want %d levels at most", deepest)
		return nil
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return b.object(n, n.Values, path, depth)
	case *ast.MappingValueNode:
		return b.object(n, []*ast.MappingValueNode{n}, path, depth)
	case *ast.SequenceNode:
		made := &node{kind: list, at: at}
		for i, value := range n.Values {
			if item := b.node(value, item(path, i), depth+1); item != nil {
				made.items = append(made.items, item)
			}
		}
		return made
	case *ast.StringNode:
		return &node{kind: text, text: n.Value, at: at}
	case *ast.LiteralNode:
		return &node{kind: text, text: n.Value.Value, at: at}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: number, text: n.GetToken().Value, at: at}
	case *ast.BoolNode:
		return &node{kind: boolean, text: strings.ToLower(n.GetToken().Value), at: at}
	case *ast.NullNode:
		return &node{kind: null, at: at}
	}
	b.faults.add(at, path, "has %s: want plain values, lists and objects", quoted(n.GetToken().Value))
	return nil
}

func (b builder) object(n ast.Node, members []*ast.MappingValueNode, path string, depth int) *node {
	made := &node{kind: object, at: b.place(n)}
	for i, m := range members {
		at := b.place(m.Key)
		if i == 0 && n.GetToken().Value != "{" { // the token of a block mapping is its first colon
			made.at = at
		}
		name := m.Key.GetToken().Value
		value := b.node(m.Value, join(path, name), depth+1)
		if before := made.member(name); before != nil {
			b.faults.add(at, join(path, name), "is there a second time%s", line(before.at))
		} else if value != nil {
			made.keys = append(made.keys, member{name, at, value})
		}
	}
	return made
}
