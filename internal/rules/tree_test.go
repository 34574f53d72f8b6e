package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/weir-go/weir/internal/must"
)

// modulePath is the path of the root module; the paths of the others extend it.
const modulePath = "github.com/weir-go/weir"

// A tree is the repository in the form that the rules use.
type tree struct {
	fsys    fs.FS
	fset    *token.FileSet
	sources []source
	paths   []string // all files except Go sources
}

// A source is a parsed Go file.
type source struct {
	path, dir string
	test      bool
	*ast.File
}

// load parses every Go file that the go command would read.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{fsys: fsys, fset: token.NewFileSet()}
	return t, fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); entry.IsDir() {
			if base == "testdata" || base == "node_modules" || len(base) > 1 && strings.ContainsAny(base[:1], "._") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			t.paths = append(t.paths, name)
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		t.sources = append(t.sources, source{
			path: name,
			dir:  path.Dir(name),
			test: strings.HasSuffix(name, "_test.go"),
			File: file,
		})
		return nil
	})
}

func isInternal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

// at returns the location of a node, for complaints.
func (t *tree) at(node ast.Node) string {
	pos := t.fset.Position(node.Pos())
	return pos.Filename + ":" + strconv.Itoa(pos.Line)
}

// imported returns the paths that a file imports.
func (s source) imported() []string {
	var paths []string
	for _, spec := range s.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, name)
	}
	return paths
}

var repository = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../..")) })

// holds applies a rule to the repository and reports its complaints.
func holds(t *testing.T, rule func(*tree) []string) {
	t.Helper()
	if _, err := os.Stat("../../go.work"); err != nil {
		t.Skip("not in a checkout of the repository")
	}
	repo := must.Have(repository())(t)
	for _, complaint := range rule(repo) {
		t.Error(complaint)
	}
}

// complains applies a rule to a tree of the given files (name, content, name, content, ...)
// and checks that its complaints begin exactly with the wanted strings, in order.
func complains(t *testing.T, rule func(*tree) []string, want []string, files ...string) {
	t.Helper()
	fsys := fstest.MapFS{}
	for pair := range slices.Chunk(files, 2) {
		fsys[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	broken := must.Have(load(fsys))(t)
	got := rule(broken)
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got the complaints\n\t%s\nwant complaints that begin with\n\t%s",
			strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
