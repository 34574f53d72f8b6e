package nostr

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of arrays and objects in skipped values of unknown fields.
const maxDepth = 16

// A scanner reads JSON. After the first error it moves to the end, so that every later read
// fails too; it keeps the first error.
//
// The strings that it returns share its text, unless they have escapes.
type scanner struct {
	text    string
	at      int
	field   string // of the object being read, for errors
	scratch []byte
	err     error
}

// newScanner copies the text. It refuses text that is too long or not UTF-8.
func newScanner(text []byte, l Limits) *scanner {
	s := &scanner{}
	switch {
	case len(text) > l.Message:
		s.fail("%d bytes, where at most %d are allowed", len(text), l.Message)
	case !utf8.Valid(text):
		s.fail("the text is not UTF-8")
	default:
		s.text = string(text)
	}
	return s
}

// fail keeps the first error.
func (s *scanner) fail(format string, args ...any) { s.failAs(Invalid, format, args...) }

func (s *scanner) failAs(prefix Prefix, format string, args ...any) {
	if s.err != nil {
		return
	}
	if s.field != "" {
		format = "%.40q: " + format
		args = append([]any{s.field}, args...)
	}
	s.err = reasonf(prefix, format, args...)
	s.at = len(s.text)
}

// want fails with a description of the expected text.
func (s *scanner) want(what string) { s.fail("want %s at byte %d", what, s.at) }

// peek returns the next byte that is not a space, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take reads a byte if it is the next one.
func (s *scanner) take(c byte) bool {
	if s.peek() != c || s.at == len(s.text) {
		return false
	}
	s.at++
	return true
}

// end fails unless nothing follows the value.
func (s *scanner) end() {
	s.peek()
	if s.at < len(s.text) {
		s.want("nothing more")
	}
}

// array reads an array and calls element for each element.
func (s *scanner) array(element func()) {
	if !s.take('[') {
		s.want("an array")
		return
	}
	if s.take(']') {
		return
	}
	for {
		element()
		if s.take(']') {
			return
		}
		if !s.take(',') {
			s.want("a comma or ]")
			return
		}
	}
}

// object reads an object and calls value for each value.
func (s *scanner) object(value func(key string)) {
	if !s.take('{') {
		s.want("an object")
		return
	}
	if s.take('}') {
		return
	}
	for {
		key := s.string()
		if !s.take(':') {
			s.want("a colon")
			return
		}
		value(key)
		if s.take('}') {
			return
		}
		if !s.take(',') {
			s.want("a comma or }")
			return
		}
	}
}

// string reads a string.
func (s *scanner) string() string {
	if !s.take('"') {
		s.want("a string")
		return ""
	}
	plain := s.plain()
	if s.at < len(s.text) && s.text[s.at] == '"' {
		s.at++
		return plain
	}
	if s.scratch == nil {
		s.scratch = make([]byte, 0, len(plain)+len(s.text)-s.at) // enough for all strings that follow
	}
	s.scratch = append(s.scratch[:0], plain...)
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.at++
			return string(s.scratch)
		case '\\':
			s.escape()
		default:
			s.want("no control character in a string")
		}
		s.scratch = append(s.scratch, s.plain()...)
	}
	s.want("the end of a string")
	return ""
}

// plain reads the unescaped bytes of a string.
func (s *scanner) plain() string {
	start := s.at
	for ; s.at < len(s.text); s.at++ {
		if c := s.text[s.at]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return s.text[start:s.at]
}

// escape reads an escape.
func (s *scanner) escape() {
	code := byte(0)
	if s.at+1 < len(s.text) {
		code = s.text[s.at+1]
	}
	if code == 'u' {
		s.codePoint()
		return
	}
	i := strings.IndexByte(`"\/bfnrt`, code)
	if i < 0 {
		s.want("an escape of JSON")
		return
	}
	s.scratch = append(s.scratch, "\"\\/\b\f\n\r\t"[i])
	s.at += 2
}

// codePoint reads \uXXXX, or a surrogate pair of two. It refuses half a pair: no UTF-8
// encodes it, so the ID of the event could not be computed.
func (s *scanner) codePoint() {
	r := s.unit(s.at)
	length := 6
	if utf16.IsSurrogate(r) {
		r = utf16.DecodeRune(r, s.unit(s.at+length))
		length *= 2
		if r == utf8.RuneError {
			s.want("no half of a surrogate pair")
			return
		}
	}
	if r < 0 {
		s.want("four hexadecimal digits")
		return
	}
	s.scratch = utf8.AppendRune(s.scratch, r)
	s.at += length
}

// unit returns the code of \uXXXX, -1 if there is none.
func (s *scanner) unit(at int) rune {
	if !strings.HasPrefix(s.text[at:], `\u`) || len(s.text) < at+6 {
		return -1
	}
	code, err := strconv.ParseUint(s.text[at+2:at+6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(code)
}

// hex reads a string of lower-case hexadecimal digits that fills to exactly.
func (s *scanner) hex(to []byte) {
	s.peek()
	start := s.at
	if text := s.string(); s.err == nil && !decodeHex(to, text) {
		s.at = start
		s.want(strconv.Itoa(2*len(to)) + " lower-case hexadecimal digits")
	}
}

// integer reads a number without fraction or exponent.
func (s *scanner) integer(low, high int64) int64 {
	s.peek()
	start := s.at
	number := s.number()
	n, err := strconv.ParseInt(number, 10, 64)
	if s.err == nil && (err != nil || n < low || n > high) {
		s.at = start
		s.want("an integer from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10))
	}
	return n
}
