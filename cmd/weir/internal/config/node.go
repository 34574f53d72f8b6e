package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// A kind is the kind of a value of YAML.
type kind int

const (
	object kind = iota
	list
	text
	number
	boolean
	null
	foreign // a value that no configuration has
)

func kindOf(n ast.Node) kind {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return object
	case *ast.SequenceNode:
		return list
	case *ast.StringNode, *ast.LiteralNode:
		return text
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return number
	case *ast.BoolNode:
		return boolean
	case *ast.NullNode:
		return null
	}
	return foreign
}

// written returns the text of a value that is no object and no list.
func written(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.BoolNode:
		return strings.ToLower(n.GetToken().Value)
	}
	return n.GetToken().Value
}

// shown returns a value as an error shows it.
func shown(n ast.Node) string {
	switch kindOf(n) {
	case object:
		return "an object"
	case list:
		return "a list"
	case null:
		return "empty"
	case text:
		return quoted(written(n))
	}
	return written(n)
}

// membersOf returns the members of an object.
func membersOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// beginning returns the node at the beginning of a value: the token of a block mapping is its first
// colon.
func beginning(n ast.Node) ast.Node {
	if members := membersOf(n); len(members) > 0 && n.GetToken().Value != "{" {
		return members[0].Key
	}
	return n
}

// longestShown is the longest part of a value that an error shows.
const longestShown = 60

// password matches the user and the password of a URL. The password may have an unescaped slash.
var password = regexp.MustCompile(`(?s)://.*:.*@`)

// quoted shortens a text that is too long to read, and hides a password, because errors are logged.
func quoted(s string) string {
	s = password.ReplaceAllString(s, "://xxxxx@")
	if runes := []rune(s); len(runes) > longestShown {
		s = string(runes[:longestShown]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
