package documents

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// foreign are the third-party packages in the documents, and the packages of the standard
// library that share a name with another.
var foreign = map[string]string{
	"asynq":      "github.com/hibiken/asynq",
	"badger":     "github.com/dgraph-io/badger/v4",
	"chi":        "github.com/go-chi/chi/v5",
	"connect":    "connectrpc.com/connect",
	"grpc":       "google.golang.org/grpc",
	"message":    "github.com/ThreeDotsLabs/watermill/message",
	"neo4j":      "github.com/neo4j/neo4j-go-driver/v5/neo4j",
	"nostr":      "github.com/nbd-wtf/go-nostr",
	"pgx":        "github.com/jackc/pgx/v5",
	"prometheus": "github.com/prometheus/client_golang/prometheus",
	"promhttp":   "github.com/prometheus/client_golang/prometheus/promhttp",
	"rand":       "math/rand/v2",
	"river":      "github.com/riverqueue/river",
	"rivertype":  "github.com/riverqueue/river/rivertype",
	"sdkmetric":  "go.opentelemetry.io/otel/sdk/metric",
	"template":   "html/template",
	"worker":     "go.temporal.io/sdk/worker",
}

// free are variables that a reader understands without their declaration.
var free = map[string]string{
	"ctx": "context.Context",
	"err": "error",
	"lim": "*weir.Limiter",
	"set": "*bulkhead.Set",
	"mux": "*http.ServeMux",
	"w":   "http.ResponseWriter",
	"r":   "*http.Request",
	"db":  "*sql.DB",
}

const modulePath = "github.com/weir-go/weir"

// A workspace holds the packages that snippets import.
type workspace struct {
	paths map[string]string // by name
	whole bool              // all.work, with all modules
}

// theWorkspace holds the packages of the standard library and of the repository.
var theWorkspace = sync.OnceValues(func() (*workspace, error) {
	list, err := goCommand("list", "-f", "{{.Name}} {{.ImportPath}}", "std")
	if err != nil {
		return nil, err
	}
	w := &workspace{paths: map[string]string{}, whole: path.Base(os.Getenv("GOWORK")) == "all.work"}
	for line := range strings.Lines(list) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, taken := w.paths[name]; !taken && !isHidden(path) {
			w.paths[name] = path
		}
	}
	maps.Copy(w.paths, foreign)
	return w, w.addOurs(os.DirFS("../.."))
})

// isHidden reports whether readers cannot import the package.
func isHidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "internal" || part == "vendor" || part == "testdata" || part == "bench" || len(part) > 1 && part[0] == '.'
	})
}

// addOurs reads a file of each package, because go list only finds packages of the current
// workspace.
func (w *workspace) addOurs(repository fs.FS) error {
	return fs.WalkDir(repository, ".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || isHidden(dir) {
			return err
		}
		names, err := fs.Glob(repository, path.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			return err
		}
		text, err := fs.ReadFile(repository, names[0])
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), names[0], text, parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		if name := strings.TrimSuffix(file.Name.Name, "_test"); name != "main" {
			w.paths[name] = path.Join(modulePath, dir)
		}
		return nil
	})
}

func goCommand(args ...string) (string, error) {
	command := exec.Command("go", args...) //nolint:gosec // constant arguments
	command.Dir = "../.."
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", args[0], err, &complaint)
	}
	return string(out), err
}

// complete adds the omitted parts of a document's code: the imports of each file, and the
// variables in free.
func (w *workspace) complete(s *snippet) {
	if s.whole {
		return
	}
	own := declared(s.files)
	var variables ast.File
	for _, file := range s.files {
		_, all := mentioned(file)
		for name, kind := range free {
			if all[name] && !own[name] {
				own[name] = true
				declaration, _ := parser.ParseFile(token.NewFileSet(), "", "package p\nvar "+name+" "+kind, 0)
				variables.Decls = append(variables.Decls, declaration.Decls...)
			}
		}
	}
	variables.Name = ast.NewIdent("p")
	s.files = append(s.files, &variables)
	for _, file := range s.files {
		if len(file.Imports) > 0 { // a file with imports has all it needs
			continue
		}
		before, _ := mentioned(file)
		for name := range before {
			if path := w.paths[name]; path != "" && !own[name] {
				spec := &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}}
				file.Imports = append(file.Imports, spec)
				file.Decls = slices.Insert(file.Decls, 0, ast.Decl(&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}}))
			}
		}
	}
}

// compile compiles the imports of all snippets with the go command, and returns the files
// with their export data.
func compile(snippets []snippet) (map[string]string, error) {
	wanted := map[string]bool{}
	for _, s := range snippets {
		for path := range s.imports() {
			wanted[path] = true
		}
	}
	list, err := goCommand(append([]string{"list", "-e", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Sorted(maps.Keys(wanted))...)...)
	if err != nil {
		return nil, err
	}
	compiled := map[string]string{}
	for line := range strings.Lines(list) {
		if path, file, _ := strings.Cut(strings.TrimSpace(line), "\t"); file != "" {
			compiled[path] = file
		}
	}
	return compiled, nil
}

func (s snippet) imports() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, file := range s.files {
			for _, spec := range file.Imports {
				if path, _ := strconv.Unquote(spec.Path.Value); !yield(path) {
					return
				}
			}
		}
	}
}
