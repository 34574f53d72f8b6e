package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A jsonValue is a JSON value with its line. Package json does not record lines, and an
// error in a file of a hundred lines needs one.
type jsonValue struct {
	line    int
	scalar  any // string, json.Number, bool or nil, unless it is one of the following
	members []jsonMember
	items   []*jsonValue
	shape   shape
}

type shape uint8

const (
	scalar shape = iota
	object
	array
)

type jsonMember struct {
	name  string
	line  int
	value *jsonValue
}

// deepest is the maximum nesting of values; a scenario needs half of it.
const deepest = 16

// jsonReader reads a file of one JSON value.
type jsonReader struct {
	file    string
	text    []byte
	decoder *json.Decoder
	path    string // of the value being read
}

func readJSON(file string, text []byte) (*jsonValue, error) {
	r := &jsonReader{file: file, text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	r.decoder.UseNumber()
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, r.fault("has more after its end")
	}
	return root, nil
}

// line returns the line of the last token.
func (r *jsonReader) line() int { return r.lineAt(int(r.decoder.InputOffset())) }

// nextLine returns the line of the next token. The offset of a [json.SyntaxError] is
// unusable: it leaves out some of the input.
func (r *jsonReader) nextLine() int {
	rest := r.text[r.decoder.InputOffset():]
	return r.lineAt(len(r.text) - len(bytes.TrimLeft(rest, " \t\r\n:,")))
}

func (r *jsonReader) lineAt(offset int) int {
	return 1 + bytes.Count(r.text[:offset], []byte("\n"))
}

func (r *jsonReader) fault(format string, args ...any) error {
	return &FieldError{File: r.file, Line: r.line(), Field: "JSON", Problem: fmt.Sprintf(format, args...)}
}

func (r *jsonReader) token() (json.Token, error) {
	token, err := r.decoder.Token()
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return token, nil
	case errors.As(err, &syntax):
		return nil, &FieldError{
			File: r.file, Line: r.nextLine(), Field: cmp.Or(r.path, "JSON"),
			Problem: "is wrong: " + syntax.Error(),
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, r.fault("ends too early")
	}
	return nil, r.fault("is wrong: %v", err)
}

func (r *jsonReader) value(depth int) (*jsonValue, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &jsonValue{line: r.line(), scalar: token}
	if depth > deepest {
		return nil, r.fault("is nested too deeply: want %d levels at most", deepest)
	}
	switch token {
	case json.Delim('{'):
		n.shape = object
		err = r.object(n, depth)
	case json.Delim('['):
		n.shape = array
		err = r.array(n, depth)
	}
	return n, err
}

// within reads the value at a path inside the current value.
func (r *jsonReader) within(path string, depth int) (*jsonValue, error) {
	outer := r.path
	r.path = path
	n, err := r.value(depth + 1)
	r.path = outer
	return n, err
}

func (r *jsonReader) object(n *jsonValue, depth int) error {
	seen := map[string]bool{}
	for r.decoder.More() {
		token, err := r.token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		switch {
		case !ok:
			return r.fault("is wrong: want a name in quotes")
		case seen[name]:
			return r.fault("has %q twice", name)
		}
		seen[name] = true
		m := jsonMember{name: name, line: r.line()}
		if m.value, err = r.within(inside(r.path, name), depth); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
	_, err := r.token()
	return err
}

func (r *jsonReader) array(n *jsonValue, depth int) error {
	for r.decoder.More() {
		item, err := r.within(fmt.Sprintf("%s[%d]", r.path, len(n.items)), depth)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := r.token()
	return err
}
