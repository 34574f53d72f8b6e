package documents

import (
	"reflect"
	"testing"
	"testing/fstest"
)

func TestBlocks(t *testing.T) {
	text := "<!-- go: var a int -->\n```go\na++\n\n  b()\n```\n\n1. This:\n\n   <!-- go:\n   var c int\n   -->\n\n   ```go\n   c++\n   \tif c {\n   ```\n" +
		"<!-- go: var d int -->\nText.\n```\nplain\n```\n<!-- a remark -->\n```go\ne\n"
	want := []Block{
		{"a.md", 2, "go", "a++\n\n  b()\n", " var a int", 1},
		{"a.md", 14, "go", "c++\n\tif c {\n", "\n   var c int", 10},
		{"a.md", 20, "", "plain\n", "", 0},
		{"a.md", 24, "go", "e\n\n", "", 23},
	}
	if got := Blocks("a.md", text); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%#v\nwant\n%#v", got, want)
	}
}

func TestRead(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"README.md", "CHANGELOG.md", "docs/http.md", "docs/results/laws.md", "docs/decisions/0001.md", "examples/relay/README.md", "bench/README.md", "docs/a.svg"} {
		files[name] = &fstest.MapFile{Data: []byte(name)}
	}
	got, err := Read(files)
	want := map[string]string{"README.md": "README.md", "docs/http.md": "docs/http.md", "docs/results/laws.md": "docs/results/laws.md", "examples/relay/README.md": "examples/relay/README.md"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
