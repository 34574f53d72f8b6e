package protocol

import (
	"bytes"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxDepth bounds the nesting of arrays and objects, of which unknown fields may have many:
// the validation of JSON is recursive.
const maxDepth = 18

// decode copies a text and returns its value. It refuses text that is not JSON.
func decode(text []byte) (gjson.Result, error) {
	switch {
	case len(text) > MaxMessage:
		return gjson.Result{}, Errorf(Invalid, "%d bytes, where at most %d are allowed", len(text), MaxMessage)
	case !utf8.Valid(text):
		return gjson.Result{}, Errorf(Invalid, "the text is not UTF-8")
	case !shallow(text):
		return gjson.Result{}, Errorf(Invalid, "more than %d arrays and objects inside one another", maxDepth)
	case !gjson.ValidBytes(text):
		return gjson.Result{}, Errorf(Invalid, "the text is not JSON")
	}
	return gjson.ParseBytes(text), nil
}

// shallow reports whether the nesting is at most maxDepth. Most texts have fewer brackets.
func shallow(text []byte) bool {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= maxDepth {
		return true
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // the escaped character
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return false
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return true
}
