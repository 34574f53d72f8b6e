package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// documented demands a package comment, in a doc.go, for every package, and a comment for
// everything exported: types, functions, methods, constants and variables, and in public
// packages also fields and interface methods.
func documented(t *tree) (complaints []string) {
	undocumented := func(node ast.Node, kind, name string) {
		complaints = append(complaints, fmt.Sprintf("%s: exported %s %s has no doc comment: "+
			"say what it does for its user, or do not export it", t.at(node), kind, name))
	}
	hasDoc := map[string]bool{}
	for _, file := range t.sources {
		here := file.Doc != nil && (path.Base(file.path) == "doc.go" || isProgram(file.dir))
		hasDoc[file.dir] = hasDoc[file.dir] || here
		if file.test || file.Name.Name == "main" {
			continue
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Name.IsExported() && decl.Doc == nil && ast.IsExported(receiver(decl)) {
					undocumented(decl, "function", decl.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							if name.IsExported() && decl.Doc == nil && spec.Doc == nil && spec.Comment == nil {
								undocumented(name, decl.Tok.String(), name.Name)
							}
						}
					case *ast.TypeSpec:
						if !spec.Name.IsExported() {
							continue
						}
						if spec.Doc == nil && (decl.Doc == nil || decl.Lparen.IsValid()) {
							undocumented(spec, "type", spec.Name.Name)
						}
						if !isInternal(file.dir) {
							for _, name := range t.unsaid(decl, spec) {
								undocumented(name, "field or method", spec.Name.Name+"."+name.Name)
							}
						}
					}
				}
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(hasDoc)) {
		if !hasDoc[dir] {
			complaints = append(complaints, dir+": has no package comment in a doc.go (in a program, in any file): "+
				"open the package with its idea, its maths and its sources")
		}
	}
	return complaints
}

// receiver returns the name of the type of a method; for a function, the exported
// placeholder "Func".
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return "Func"
	}
	name := ""
	ast.Inspect(decl.Recv.List[0].Type, func(node ast.Node) bool {
		if ident, ok := node.(*ast.Ident); ok && name == "" {
			name = ident.Name
		}
		return name == ""
	})
	return name
}

// unsaid returns the exported fields, or interface methods, of a type without a comment:
// neither on the same line, nor above it or above its group of lines, nor by name in the
// comment of the type.
func (t *tree) unsaid(decl *ast.GenDecl, spec *ast.TypeSpec) (names []*ast.Ident) {
	var fields []*ast.Field
	switch expr := spec.Type.(type) {
	case *ast.StructType:
		fields = expr.Fields.List
	case *ast.InterfaceType:
		fields = expr.Methods.List
	}
	said := strings.FieldsFunc(decl.Doc.Text()+" "+spec.Doc.Text(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	grouped, last := false, 0
	for _, field := range fields {
		grouped = field.Doc != nil || grouped && t.fset.Position(field.Pos()).Line == last+1
		last = t.fset.Position(field.End()).Line
		for _, name := range field.Names {
			if name.IsExported() && !grouped && field.Comment == nil && !slices.Contains(said, name.Name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func isInternal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

func TestEverythingExportedIsDocumented(t *testing.T) {
	holds(t, documented)
	complains(t, documented,
		[]string{
			"law/a.go:3: exported type T ", "law/a.go:4: exported field or method T.B ", "law/a.go:11: exported field or method T.G ",
			"law/a.go:15: exported function M ", "law/a.go:17: exported const C ", "cmd/weir: has no package comment", "law: has no package comment",
		},
		"law/a.go", `package law

type T struct {
	B int
	C int // said

	// Said for a group.
	D int
	E, F int

	G int
}

// F is said.
func F() {}; func (t *T) M() {}; func (t t[int]) N() {}

const C = 1

// Group is said.
const (
	D = iota
	E
)

// I says what J does.
type I interface { J() }
`,
		"pid/doc.go", "// Package pid is said.\npackage pid\n",
		"pid/doc_test.go", "package pid_test\nfunc TestX() {}\n",
		"cmd/weir/main.go", "package main\nfunc Exported() {}\n")
}

const maxLines = 500

func short(t *tree) (complaints []string) {
	for _, file := range t.sources {
		if file.lines > maxLines && !ast.IsGenerated(file.File) {
			complaints = append(complaints, fmt.Sprintf("%s: has %d lines, at most %d are allowed: "+
				"a file tells one story; split it by topic", file.path, file.lines, maxLines))
		}
	}
	return complaints
}

func TestFilesAreShort(t *testing.T) {
	holds(t, short)
	complains(t, short, []string{"law/long.go: has 501 lines"},
		"law/long.go", "package law"+strings.Repeat("\n", 501),
		"law/short.go", "package law"+strings.Repeat("\n", 500),
		"law/generated.go", "// Code generated by hand. DO NOT EDIT.\npackage law"+strings.Repeat("\n", 501))
}

const maxColumns = 100

// narrow limits comments to a width that fits beside a diff. Tables, code and the output of
// examples may be wider.
func narrow(t *tree) (complaints []string) {
	for _, file := range t.sources {
		text, err := fs.ReadFile(t.fsys, file.path)
		if err != nil {
			return append(complaints, err.Error())
		}
		printed := false
		for number, line := range strings.Split(string(text), "\n") {
			comment := strings.TrimLeft(line, "\t")
			printed = strings.HasPrefix(comment, "//") && (printed || strings.HasPrefix(comment, "// Output:"))
			prose := strings.HasPrefix(comment, "// ") && !strings.HasPrefix(comment, "//  ") && !printed
			columns := len("    ")*(len(line)-len(comment)) + utf8.RuneCountInString(comment)
			if prose && columns > maxColumns {
				complaints = append(complaints, fmt.Sprintf("%s:%d: the comment has %d columns, at most %d are allowed: break it",
					file.path, number+1, columns, maxColumns))
			}
		}
	}
	return complaints
}

func TestCommentsAreNarrow(t *testing.T) {
	holds(t, narrow)
	complains(t, narrow, []string{"law/a.go:3: the comment has 101 columns", "law/a.go:6: the comment has 102 columns"},
		"law/a.go", "package law\n\n// "+strings.Repeat("x", 98)+"\n// "+strings.Repeat("ä", 97)+"\n//\t"+strings.Repeat("x", 200)+
			"\n\t// "+strings.Repeat("x", 95)+"\nfunc f() {} // "+strings.Repeat("x", 200)+
			"\n\t// Output: "+strings.Repeat("x", 200)+"\n\t// "+strings.Repeat("x", 200)+"\n")
}

func sleepless(t *tree) (complaints []string) {
	for _, file := range t.sources {
		if !file.test || slices.Contains(file.imported(), "testing/synctest") {
			continue
		}
		for _, use := range file.uses("time", "Sleep") {
			complaints = append(complaints, t.at(use)+": a test must not sleep on the wall clock: "+
				"run it under testing/synctest, or wait for the event itself")
		}
	}
	return complaints
}

func TestTestsDoNotSleep(t *testing.T) {
	holds(t, sleepless)
	complains(t, sleepless, []string{"law/a_test.go:2"},
		"law/a_test.go", "package law; import \"time\"\nfunc f() { time.Sleep(1) }",
		"law/b_test.go", "package law; import (\"time\"; _ \"testing/synctest\")\nfunc g() { time.Sleep(1) }",
		"law/c.go", "package law; import \"time\"\nfunc h() { time.Sleep(1) }")
}

// still forbids a go statement in a constructor of the library and in the functions of the
// same package that it calls by their plain name.
func still(t *tree) (complaints []string) {
	functions := map[string]*ast.FuncDecl{} // by directory and name
	for _, file := range t.sources {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Recv == nil && !file.test {
				functions[file.dir+"."+decl.Name.Name] = decl
			}
		}
	}
	var visit func(dir, name string, constructor *ast.FuncDecl)
	visit = func(dir, name string, constructor *ast.FuncDecl) {
		decl := functions[dir+"."+name]
		if decl == nil || decl.Body == nil {
			return
		}
		delete(functions, dir+"."+name) // once is enough
		ast.Inspect(decl.Body, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.GoStmt:
				complaints = append(complaints, fmt.Sprintf("%s: %s starts a goroutine: a constructor must not; "+
					"give the loop to a Run(ctx), or a Start and a Stop, that the caller owns", t.at(node), constructor.Name.Name))
			case *ast.CallExpr:
				if callee, ok := node.Fun.(*ast.Ident); ok {
					visit(dir, callee.Name, constructor)
				}
			}
			return true
		})
	}
	for _, file := range t.sources {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.FuncDecl)
			if ok && decl.Recv == nil && !file.test && !isProgram(file.dir) && isConstructor(decl.Name.Name) {
				visit(file.dir, decl.Name.Name, decl)
			}
		}
	}
	return complaints
}

// isConstructor reports whether a name is New or begins with it as a word.
func isConstructor(name string) bool {
	rest, ok := strings.CutPrefix(name, "New")
	if !ok {
		rest, ok = strings.CutPrefix(name, "new")
	}
	return ok && (rest == "" || token.IsExported(rest))
}

func TestConstructorsStartNoGoroutine(t *testing.T) {
	holds(t, still)
	complains(t, still, []string{"law/a.go:2: New ", "law/a.go:4: NewB "},
		"law/a.go", `package law
func New() { func() { go println() }() }
func NewB() { start() }
func start() { go println() }
func Newton() { go println() }
func (b B) New() {}
func Run() { go println() }
`)
}
