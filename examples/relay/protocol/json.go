package protocol

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxDepth bounds the nesting of arrays and objects, of which unknown fields may have many:
// the validation of JSON is recursive.
const maxDepth = 18

// decode copies a text and returns its value. It refuses text that is not JSON, and text that
// programs read differently.
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
	case !paired(text):
		return gjson.Result{}, Errorf(Invalid, "half of a surrogate pair")
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

// paired reports whether each surrogate among the escapes of a JSON text has its other half.
// No UTF-8 encodes a half, so the ID of the event could not be computed.
func paired(text []byte) bool {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			return true
		}
		text = text[at:]
		if text[1] != 'u' {
			text = text[2:]
			continue
		}
		r := codeUnit(text)
		text = text[6:]
		if !utf16.IsSurrogate(r) {
			continue
		}
		if utf16.DecodeRune(r, codeUnit(text)) == utf8.RuneError {
			return false
		}
		text = text[6:]
	}
}

// codeUnit returns the code of the \uXXXX at the start of a JSON text, 0 if there is none.
func codeUnit(text []byte) rune {
	if !bytes.HasPrefix(text, []byte(`\u`)) {
		return 0
	}
	code, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(code)
}
