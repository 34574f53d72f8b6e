package nostr

import "strings"

// skip reads the value of an unknown field.
func (s *scanner) skip() { s.skipTo(maxDepth) }

func (s *scanner) skipTo(depth int) {
	if depth == 0 {
		s.want("no more arrays and objects inside one another")
		return
	}
	switch c := s.peek(); c {
	case '{':
		s.object(func(string) { s.skipTo(depth - 1) })
	case '[':
		s.array(func() { s.skipTo(depth - 1) })
	case '"':
		s.string()
	case 't', 'f', 'n':
		s.literal()
	default:
		s.number()
	}
}

func (s *scanner) literal() {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s.text[s.at:], word) {
			s.at += len(word)
			return
		}
	}
	s.want("a value")
}

// number reads a JSON number.
func (s *scanner) number() string {
	s.peek()
	start := s.at
	s.one("-")
	if !s.one("0") && s.digits() == 0 {
		s.want("a number")
		return ""
	}
	if s.one(".") && s.digits() == 0 {
		s.want("a digit")
	}
	if s.one("eE") {
		s.one("+-")
		if s.digits() == 0 {
			s.want("a digit")
		}
	}
	return s.text[start:s.at]
}

// one reads one of the bytes.
func (s *scanner) one(of string) bool {
	if s.at == len(s.text) || strings.IndexByte(of, s.text[s.at]) < 0 {
		return false
	}
	s.at++
	return true
}

func (s *scanner) digits() (n int) {
	for s.one("0123456789") {
		n++
	}
	return n
}
