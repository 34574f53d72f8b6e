package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// JSON translates YAML to JSON, and keeps each name and value on its line, so that a strict reader
// of JSON reports the right one. It refuses the YAML that [Parse] refuses, and numbers in a form
// that no field of a [Config] takes, such as 0x10. An empty text stays empty.
func JSON(file string, source []byte) ([]byte, error) {
	wrong := new(faults)
	root := read(place{file: file}, source, wrong)
	w := &jsonWriter{line: 1, faults: wrong}
	if root != nil {
		w.value(root, "")
	}
	return w.out.Bytes(), wrong.err()
}

// A jsonWriter counts the lines of its output.
type jsonWriter struct {
	out    bytes.Buffer
	line   int
	faults *faults
}

func (w *jsonWriter) value(n *node, path string) {
	switch n.kind {
	case object:
		w.write(n.at, "{")
		for i, m := range n.keys {
			w.comma(i)
			w.write(m.at, quotedJSON(m.name)+":")
			w.value(m.value, join(path, m.name))
		}
		w.out.WriteByte('}')
	case list:
		w.write(n.at, "[")
		for i, one := range n.items {
			w.comma(i)
			w.value(one, item(path, i))
		}
		w.out.WriteByte(']')
	case text:
		w.write(n.at, quotedJSON(n.text))
	case number:
		if _, err := parseDecimal(n.text); err != nil {
			w.faults.add(n.at, path, "is %v: want a decimal number, such as 10 or 0.5", n)
			return
		}
		w.write(n.at, numberJSON(n.text))
	case boolean:
		w.write(n.at, n.text)
	case null:
		w.write(n.at, "null")
	}
}

func (w *jsonWriter) comma(i int) {
	if i > 0 {
		w.out.WriteByte(',')
	}
}

func (w *jsonWriter) write(at place, text string) {
	for ; w.line < at.line; w.line++ {
		w.out.WriteByte('\n')
	}
	w.out.WriteString(text)
}

func quotedJSON(text string) string {
	quoted, _ := json.Marshal(text) // no text fails
	return string(quoted)
}

// numberJSON returns a decimal number in the form of JSON: without a plus and leading zeros, and
// with a digit on both sides of a point. It keeps the point of 5.0, which no whole number has.
func numberJSON(text string) string {
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	whole, fraction, point := strings.Cut(strings.TrimLeft(text, "+-0"), ".")
	number := sign + cmp.Or(whole, "0")
	if !point {
		return number
	}
	if fraction == "" || fraction[0] < '0' || fraction[0] > '9' {
		fraction = "0" + fraction
	}
	return number + "." + fraction
}
