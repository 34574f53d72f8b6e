package documents

import (
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weir-go/weir/internal/must"
)

// undefined is the advice about a name that the compiler does not know.
const undefined = ": correct it, or declare what readers know anyway in a comment above the block, as in <!-- go: var orders []Order; type Order struct{} -->; " +
	"packages of others are in foreign in internal/documents"

// complaintsAbout compiles the blocks of Go. It skips blocks with imports that the workspace
// lacks, unless the workspace is whole.
func (w *workspace) complaintsAbout(t testing.TB, blocks []Block) (complaints []string, skipped int) {
	t.Helper()
	fset := token.NewFileSet()
	var snippets []snippet
	for _, b := range blocks {
		s, err := parse(fset, b)
		if err != nil {
			complaints = append(complaints, err.Error())
			continue
		}
		w.complete(&s)
		snippets = append(snippets, s)
	}
	compiled := must.Have(compile(snippets))(t)
	packages := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if compiled[path] == "" {
			return nil, errors.New("no such package, or it does not compile")
		}
		return os.Open(compiled[path])
	})
	for _, s := range snippets {
		if !w.whole && !compilable(s, compiled) {
			skipped++
			continue
		}
		config := types.Config{Importer: packages, Error: func(err error) {
			var fault types.Error
			if !errors.As(err, &fault) || fault.Soft && !s.whole { // such as a variable that the next block uses
				return
			}
			complaint := err.Error()
			if name, ok := strings.CutPrefix(fault.Msg, "undefined: "); ok && token.IsIdentifier(name) {
				complaint += undefined
			}
			complaints = append(complaints, complaint)
		}}
		_, _ = config.Check("p", fset, s.files, nil) // Error collects the errors
	}
	return complaints, skipped
}

func compilable(s snippet, compiled map[string]string) bool {
	for path := range s.imports() {
		if compiled[path] == "" {
			return false
		}
	}
	return true
}

func blocksOf(t *testing.T, languages ...string) (found []Block) {
	t.Helper()
	documents := must.Have(Read(os.DirFS("../..")))(t)
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for _, b := range Blocks(name, documents[name]) {
			if slices.Contains(languages, b.Language) {
				found = append(found, b)
			}
		}
	}
	return found
}

func TestSnippetsCompile(t *testing.T) {
	w := must.Have(theWorkspace())(t)
	blocks := blocksOf(t, "go")
	complaints, skipped := w.complaintsAbout(t, blocks)
	for _, complaint := range complaints {
		t.Error(complaint)
	}
	t.Logf("%d blocks of Go; %d import what this workspace does not have: GOWORK=$PWD/all.work compiles these too", len(blocks), skipped)
}

func TestSnippetsThatDoNotCompile(t *testing.T) {
	w := must.Have(theWorkspace())(t)
	all := workspace{w.paths, true}
	cases := []struct{ name, text, want string }{
		{"a name that is gone", "\nText.\n\n```go\nlim, err := weir.New(weir.Config{Name: \"a\"})\n\nlim.Gone(ctx)\n```\n", ":7: lim.Gone undefined"},
		{"a field that is gone", "```go\nvar config = weir.Config{\n\tGone: 1,\n}\n```\n", ":3: unknown field Gone in struct literal"},
		{"a name that readers do not know", "```go\nerr := lim.Do(ctx, search)\n```\n", ":2: undefined: search: correct it, or declare"},
		{"a package that is not known", "```go\ngone.New()\n```\n", ":2: undefined: gone: correct it, or declare"},
		{"a comment that is wrong", "<!-- go: var search\nfunc Gone -->\n```go\nsearch(ctx)\n```\n", ":1: expected type"},
		{"no Go", "```go\nlim := \n```\n", ":4: expected operand"},
		{"a block in a list", "1. This:\n\n   ```go\n   gone()\n   ```\n", ":4: undefined: gone"},
		{"a whole file with an import too many", "```go\npackage main\n\nimport \"os\"\n\nfunc main() {}\n```\n", ":4: \"os\" imported and not used"},
		{"a package that is not there", "```go\nimport \"example.com/gone\"\n```\n", ":2: could not import example.com/gone (no such package, or it does not compile)"},

		{"what readers know", "```go\nerr := lim.Do(ctx, nil)\nif err != nil {\n\t...\n}\nreturn err\n```\n", ""},
		{"declared above", "<!-- go: func search(ctx context.Context) error -->\n\n```go\nerr := lim.Do(ctx, search)\n```\n", ""},
		{"a value", "```go\nweir.Config{Name: \"a\"}\n```\n", ""},
		{"a whole file", "```go\npackage main\n\nimport \"os\"\n\nfunc main() { os.Exit(0) }\n```\n", ""},
	}
	var blocks []Block
	for i, test := range cases {
		blocks = append(blocks, Blocks(document(i), test.text)...)
	}
	complaints, _ := all.complaintsAbout(t, blocks)
	for i, test := range cases {
		var got []string
		for _, complaint := range complaints {
			if about, ok := strings.CutPrefix(complaint, document(i)); ok {
				got = append(got, about)
			}
		}
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.want)) {
			t.Errorf("%s: got the complaints %q, want one that begins with %q", test.name, got, test.want)
		}
	}
}

func document(i int) string { return fmt.Sprintf("%c.md", 'a'+i) }

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
