package yamladvice

import (
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

func TestTo(t *testing.T) {
	const general = ": want lines of the same list or object to begin in the same column, and each bracket and quote to have an end"
	for text, want := range map[string]string{
		"a:\n\tb: 1\n":        "a line begins with a tab: want blanks",
		"a: [b":               "sequence end token ']' not found" + general,
		"a:\n  b: 1\n   c: 2": "mapping value is not allowed in this context" + general,
	} {
		_, err := parser.ParseBytes([]byte(text), 0)
		fault, ok := err.(yaml.Error)
		if !ok {
			t.Errorf("%q is YAML", text)
			continue
		}
		if got := To(fault.GetMessage()); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
