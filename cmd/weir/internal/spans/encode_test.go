package spans

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

var update = flag.Bool("update", false, "write testdata/export.json")

// all returns spans with every field set. internal/promcheck decodes their encoding with the
// official types.
func all(t *testing.T) []Span {
	t.Helper()
	start := time.Unix(1_700_000_000, 5).UTC()
	place := func(parent bool) (c Context) {
		c, ok := Parse([]string{given})
		if !ok {
			t.Fatal("given is not valid")
		}
		c.Span = SpanID{1, 2, 3, 4, 5, 6, 7, 8}
		if !parent {
			c.Parent = SpanID{}
		}
		return c
	}
	return []Span{
		{
			Context: place(true), Start: start, End: start.Add(30 * time.Millisecond), Method: "GET", Path: "/search/<x>", Host: "shop.example", Proto: "https",
			Client: "198.51.100.7", Status: 200, Route: "/search/{term}", Compartment: "search", Upstream: "http://10.0.0.9:80", Waited: 12 * time.Millisecond,
		},
		{
			Context: place(false), Start: start, End: start.Add(time.Millisecond), Method: "BREW", Path: "/\xff", Proto: "http",
			Client: "2001:db8::7", Status: 503, Compartment: "search", Refused: "queue full",
		},
		{Context: place(false), Start: start, End: start, Method: "POST", Path: "/", Proto: "http"},
	}
}

func TestEncoding(t *testing.T) {
	var got bytes.Buffer
	must.Do(t, json.Indent(&got, encode("shop", all(t)), "", "  "))
	got.WriteByte('\n')
	const file = "testdata/export.json"
	if *update {
		must.Do(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want := must.Have(os.ReadFile(file))(t)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs; if that is meant, write it with -update:\n%s", file, got.Bytes())
	}
}

func TestNamesAreFew(t *testing.T) {
	s := all(t)[1]
	s.Method = strings.Repeat("X", 10)
	if m := s.message(); m["name"] != "HTTP" {
		t.Errorf("a method that a client invented names the span %q", m["name"])
	}
}
