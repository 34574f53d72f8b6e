package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// longest is the largest size of a file in bytes: ten times the size of a file with a thousand
	// routes.
	longest = 1 << 20

	// mostTokens bounds the parser's input. The parser's time grows with the square of the keys of
	// an object: this number of tokens takes a third of a second. A thousand routes have 13,000
	// tokens.
	mostTokens = 30_000

	// deepest bounds the nesting. A configuration has five levels. The parser's memory grows with
	// the square of the levels: 29 KB of brackets took 1.7 GB, which would end a proxy that
	// reloads.
	deepest = 20
)

// read returns the value of a YAML text, or nil if it is empty or has a fault. It refuses
// features that no configuration needs and that YAML parsers disagree about: anchors and
// aliases, merge keys, tags, keys that are no plain words, octal numbers, directives, several
// documents.
func read(origin place, source []byte, wrong *faults) ast.Node {
	if problem := unreadable(source); problem != "" {
		wrong.add(origin, "", "%s", problem)
		return nil
	}
	tokens := lexer.Tokenize(string(source))
	if !acceptable(origin, tokens, wrong) {
		return nil
	}
	parsed, err := parse(tokens)
	if err != nil {
		at, problem := origin, err.Error()
		if syntax := yaml.Error(nil); errors.As(err, &syntax) && syntax.GetToken() != nil {
			at, problem = placed(origin, syntax.GetToken()), syntax.GetMessage()
		}
		wrong.add(at, "", "is not YAML: %s", advised(problem))
		return nil
	}
	var value ast.Node
	for _, document := range parsed.Docs {
		if body := document.Body; body != nil && value != nil {
			wrong.add(placed(origin, beginning(body).GetToken()), "", "has more after its end: want one document")
		} else if body != nil {
			value = body
		}
	}
	return value
}

// unreadable returns the reason not to parse a text at all, or an empty string.
func unreadable(source []byte) string {
	switch {
	case len(source) > longest:
		return fmt.Sprintf("has %d bytes: want %d at most", len(source), longest)
	case bytes.HasPrefix(source, []byte("\xef\xbb\xbf")):
		return "begins with a byte order mark: save it as UTF-8 without one"
	case !utf8.Valid(source):
		line := 1
		for at := range bytes.Lines(source) {
			if !utf8.Valid(at) {
				break
			}
			line++
		}
		return fmt.Sprintf("is no UTF-8 on line %d: save it as UTF-8", line)
	case bytes.IndexByte(source, 0) >= 0:
		return "has a zero byte: want a text"
	}
	return ""
}

func placed(origin place, t *token.Token) place {
	if t.Position != nil {
		origin.line, origin.column = t.Position.Line, t.Position.Column
	}
	return origin
}

// unwanted are the tokens that no configuration has.
var unwanted = map[token.Type]string{
	token.AnchorType:       "an anchor",
	token.AliasType:        "an alias",
	token.TagType:          "a tag",
	token.MergeKeyType:     "a merge key",
	token.MappingKeyType:   "a complex key",
	token.DirectiveType:    "a directive",
	token.OctetIntegerType: "an octal number", // 010 is 8 or 10
}

// acceptable reports whether the tokens may be parsed, and adds a fault if not.
func acceptable(origin place, tokens token.Tokens, wrong *faults) bool {
	if len(tokens) > mostTokens {
		wrong.add(origin, "", "has %d names, values and signs: want %d at most", len(tokens), mostTokens)
		return false
	}
	before, depth, dashes := len(*wrong), 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if dashes++; t.Type != token.SequenceEntryType {
			dashes = 0
		}
		if max(depth, dashes) > deepest {
			wrong.add(placed(origin, t), "", "is nested too deeply: want %d levels at most", deepest)
			return false
		}
		if what := unwanted[t.Type]; what != "" {
			want := "plain values, lists and objects"
			if t.Type == token.OctetIntegerType {
				want = "a number without a 0 before it, or quotes around a text"
			}
			wrong.add(placed(origin, t), "", "has %s (%s): want %s", what, quoted(t.Value), want)
		}
	}
	return len(*wrong) == before
}

// advised adds advice to a complaint of the parser.
func advised(complaint string) string {
	if strings.Contains(complaint, `'`+"\t"+`'`) {
		return "a line begins with a tab: want spaces"
	}
	return complaint + ": want lines of the same list or object to begin in the same column, and each bracket and quote to have an end"
}

// parse turns a panic of the parser into an error. Some texts that are no YAML have caused a panic.
func parse(tokens token.Tokens) (file *ast.File, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the parser gave up: %v", fault)
		}
	}()
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // the decoder reports duplicates
}
