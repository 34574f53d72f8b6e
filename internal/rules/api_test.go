package rules

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

var updateAPI = flag.Bool("update", false, "write the golden files of the exported API")

// frozen are the packages whose exported API changes only deliberately.
var frozen = strings.Fields(". bulk bulkhead capacity dash edge fleet fleet/pgfleet fleet/storetest histogram law load load/sqlload memory metrics pid pool retry shed sim throttle trust weirhttp")

// goldenOf returns the golden file of a package's API.
func goldenOf(dir string) string {
	name := path.Base(dir)
	if dir == "." {
		name = "weir"
	}
	return "internal/rules/testdata/api/" + name + ".txt"
}

const howToUpdate = "if that is meant, tell users in CHANGELOG.md and run go test ./internal/rules -run API -update"

// unchanged demands that the exports of the frozen packages match their golden files.
func unchanged(t *tree) (complaints []string) {
	checker := newChecker(t)
	for _, dir := range frozen {
		if len(t.files(dir)) == 0 {
			continue
		}
		api, err := checker.api(dir)
		if err != nil {
			complaints = append(complaints, fmt.Sprintf("%s: does not type-check: %v", dir, err))
			continue
		}
		golden, _ := fs.ReadFile(t.fsys, goldenOf(dir)) // none: every line is new
		for _, difference := range compare(strings.Split(string(golden), "\n"), api) {
			complaints = append(complaints, fmt.Sprintf("%s: %s\n%s", dir, difference, howToUpdate))
		}
	}
	return complaints
}

// files returns the files of a package that this system compiles, without tests.
func (t *tree) files(dir string) (files []*ast.File) {
	here := build.Default
	here.OpenFile = func(name string) (io.ReadCloser, error) { return t.fsys.Open(name) }
	here.JoinPath = path.Join
	for _, file := range t.sources {
		if file.dir != dir || file.test {
			continue
		}
		if compiled, err := here.MatchFile(dir, path.Base(file.path)); compiled && err == nil {
			files = append(files, file.File)
		}
	}
	return files
}

// compare returns the removed lines and the added ones; a change is both.
func compare(before, after []string) (differences []string) {
	for _, line := range before {
		if line != "" && !slices.Contains(after, line) {
			differences = append(differences, "removed: "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			differences = append(differences, "added: "+line)
		}
	}
	return differences
}

// A checker type-checks packages of a tree, and takes the others from the go command.
type checker struct {
	tree    *tree
	others  types.Importer
	checked map[string]*types.Package // by path
}

func newChecker(t *tree) *checker {
	exports := sync.OnceValue(t.standardExports)
	others := importer.ForCompiler(t.fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports()[name]) })
	return &checker{t, others, map[string]*types.Package{}}
}

// standardExports returns the files of exports of the imported standard packages. Without them the
// importer starts the go command for each package, which takes 40 s.
func (t *tree) standardExports() map[string]string {
	names := map[string]bool{}
	for _, file := range t.sources {
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			names[name] = true
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return name == "C" || strings.Contains(name, ".") })
	list := append([]string{"list", "-e", "-export", "-f", "{{.ImportPath}} {{.Export}}"}, slices.Sorted(maps.Keys(names))...)
	printed, _ := exec.Command("go", list...).Output() // an import that is missing fails, and says its name
	files := map[string]string{}
	for line := range strings.Lines(string(printed)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return files
}

// Import implements [types.Importer].
func (c *checker) Import(name string) (*types.Package, error) {
	dir, ours := strings.CutPrefix(name+"/", modulePath+"/")
	if !ours {
		return c.others.Import(name)
	}
	return c.check(path.Clean(dir))
}

func (c *checker) check(dir string) (*types.Package, error) {
	name := path.Join(modulePath, dir)
	if done := c.checked[name]; done != nil {
		return done, nil
	}
	config := types.Config{Importer: c, IgnoreFuncBodies: true}
	pkg, err := config.Check(name, c.tree.fset, c.tree.files(dir), nil)
	c.checked[name] = pkg
	return pkg, err
}

// api returns the exports of a package, a line for each name.
func (c *checker) api(dir string) (lines []string, err error) {
	pkg, err := c.check(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range pkg.Scope().Names() {
		if token.IsExported(name) {
			lines = append(lines, linesOf(pkg.Scope().Lookup(name))...)
		}
	}
	return lines, nil
}

func linesOf(object types.Object) (lines []string) {
	short := func(p *types.Package) string {
		if p == object.Pkg() {
			return ""
		}
		return p.Name()
	}
	switch object := object.(type) {
	case *types.Const:
		return []string{types.ObjectString(object, short) + " = " + object.Val().ExactString()}
	case *types.TypeName:
		return append([]string{headOf(object, short)}, membersOf(object, short)...)
	}
	return []string{types.ObjectString(object, short)}
}

// headOf returns the line of a type, without its fields and methods.
func headOf(object *types.TypeName, short types.Qualifier) string {
	head := "type " + object.Name()
	if object.IsAlias() {
		head += " ="
	}
	switch under := object.Type().Underlying().(type) {
	case *types.Struct:
		for field := range under.Fields() {
			if !field.Exported() {
				return head + " struct with unexported fields"
			}
		}
		return head + " struct"
	case *types.Interface:
		for method := range under.Methods() {
			if !method.Exported() {
				return head + " interface with unexported methods"
			}
		}
		return head + " interface"
	default:
		return head + " " + types.TypeString(under, short)
	}
}

// membersOf returns the lines of the exported fields and methods of a type, promoted methods
// included.
func membersOf(object *types.TypeName, short types.Qualifier) (lines []string) {
	under := object.Type().Underlying()
	if s, ok := under.(*types.Struct); ok {
		for field := range s.Fields() {
			if field.Exported() {
				embedded := ""
				if field.Embedded() {
					embedded = " embedded"
				}
				lines = append(lines, fmt.Sprintf("field %s.%s %s%s", object.Name(), field.Name(), types.TypeString(field.Type(), short), embedded))
			}
		}
	}
	byValue := types.NewMethodSet(object.Type())
	methods := types.NewMethodSet(types.NewPointer(object.Type()))
	if types.IsInterface(under) {
		methods = byValue
	}
	for method := range methods.Methods() {
		if !method.Obj().Exported() {
			continue
		}
		receiver := "*"
		if byValue.Lookup(method.Obj().Pkg(), method.Obj().Name()) != nil {
			receiver = ""
		}
		signature := strings.TrimPrefix(types.TypeString(method.Type(), short), "func")
		lines = append(lines, fmt.Sprintf("method (%s%s) %s%s", receiver, object.Name(), method.Obj().Name(), signature))
	}
	return lines
}

func TestAPIIsFrozen(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err) // it knows the standard library
	}
	if *updateAPI {
		writeAPI(t)
	}
	holds(t, unchanged)

	before := []string{
		"pid/pid.go", `package pid

import "time"

// C has a value.
const C = 2 * time.Second

type T struct { A int; B, c string; E }
type E struct{}
func (E) M(n int) error { return nil }
func (*T) P() {}
func F[N ~int](n N, rest ...T) (T, error) { panic("") }
type I interface { J(T) }
type hidden struct { X int }
var V error
`,
		goldenOf("pid"), `const C time.Duration = 1000000000
field E.Gone int
type E struct
method (E) M(n int) error
func F[N ~int](n N, rest ...T) (T, error)
type I interface
method (I) J(T)
type T struct with unexported fields
field T.A int32
field T.E E embedded
method (T) M(n int) error
method (T) P()
var V error
`,
	}
	complains(t, unchanged, []string{
		"pid: removed: const C time.Duration = 1000000000\n", "pid: removed: field E.Gone int\n", "pid: removed: field T.A int32\n", "pid: removed: method (T) P()\n",
		"pid: added: const C time.Duration = 2000000000\n", "pid: added: field T.A int\n", "pid: added: field T.B string\n", "pid: added: method (*T) P()\n",
	}, before...)
}

// writeAPI writes the golden files.
func writeAPI(t *testing.T) {
	repo := must.Have(repository())(t)
	checker := newChecker(repo)
	for _, dir := range frozen {
		api := must.Have(checker.api(dir))(t)
		must.Do(t, os.WriteFile(path.Join("..", "..", goldenOf(dir)), []byte(strings.Join(api, "\n")+"\n"), 0o666))
	}
}
