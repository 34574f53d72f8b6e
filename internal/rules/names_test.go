package rules

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// otherNames are the exported names that have a standard one, by their ends.
var otherNames = []struct{ end, except, want string }{
	{"State", "", "the state of a thing is its Snapshot"},
	{"Status", "", "the state of a thing is its Snapshot"},
	{"Usage", "", "the state of a thing is its Snapshot"},
	{"Stats", "", "the state of a thing is its Snapshot"},
	{"ErrInvalid", "load", "ErrInvalid is for a measured value that makes no sense: call it ErrConfig"},
}

// standardNames demands one name for one thing: in types, methods and errors. ErrConfig is of its
// package's own kind, "<package>: invalid configuration", which matches package weir's.
func standardNames(t *tree) (complaints []string) {
	for file := range t.public() {
		for _, name := range exported(file.File) {
			for _, other := range otherNames {
				if strings.HasSuffix(name.Name, other.end) && file.dir != other.except {
					complaints = append(complaints, fmt.Sprintf("%s: exported %s: %s", t.at(name), name.Name, other.want))
				}
			}
		}
		for spec := range specs[*ast.ValueSpec](file.File) {
			want := fmt.Sprintf("settings.ErrConfigOf(%q)", file.Name.Name)
			if file.dir == "." {
				want = "settings.ErrConfig"
			}
			if spec.Names[0].Name == "ErrConfig" && (len(spec.Values) == 0 || types.ExprString(spec.Values[0]) != want) {
				complaints = append(complaints, fmt.Sprintf("%s: ErrConfig is of its own kind: want %s", t.at(spec), want))
			}
		}
	}
	return complaints
}

// exported returns the exported types, variables, constants and methods of exported types.
func exported(file *ast.File) (names []*ast.Ident) {
	for _, decl := range file.Decls {
		if method, ok := decl.(*ast.FuncDecl); ok && method.Recv != nil && ast.IsExported(receiver(method)) && method.Name.IsExported() {
			names = append(names, method.Name)
		}
		if decl, ok := decl.(*ast.GenDecl); ok {
			for _, name := range declared(decl) {
				if name.IsExported() {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// declared returns the names that a declaration adds to the package.
func declared(decl ast.Decl) (names []*ast.Ident) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			names = append(names, decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return names
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

func TestNamesAreStandard(t *testing.T) {
	holds(t, standardNames)
	complains(t, standardNames, []string{
		"law/a.go:2: exported ErrInvalid: ErrInvalid is for", "load/a.go:2: exported State: the state", "load/a.go:3: exported SideStatus",
		"load/a.go:4: exported Usage", "pid/a.go:2: ErrConfig is of its own kind",
	},
		"law/a.go", "package law\nvar ErrInvalid = errors.New(\"law: invalid\")\nvar ErrConfig = settings.ErrConfigOf(\"law\")",
		"load/a.go", `package load
type State struct{}
type SideStatus struct{}
func (m *Monitor) Usage() int { return 0 }
func (m *monitor) Usage() int { return 0 }
func HTTPStatus() int { return 0 }
type Statement struct{ Status int }
var ErrInvalid error`,
		"pid/a.go", "package pid\nvar ErrConfig = errors.New(\"pid: invalid\")")
}

// maxMethods is the maximum number of methods of a type of a package. A function whose first
// parameter is of the type counts as one: it differs from a method in spelling only. The
// Node of the admission core once had 138 (decision 0017).
var maxMethods = map[string]int{"internal/admit": 60, "pool": 35}

// maxShown is the maximum with the methods that a type gets from what it embeds.
const maxShown = 70

// uncrowded limits the methods of one type.
func uncrowded(t *tree) (complaints []string) {
	checker := newChecker(t)
	for _, dir := range slices.Sorted(maps.Keys(maxMethods)) {
		pkg, err := checker.check(dir)
		if err != nil {
			complaints = append(complaints, err.Error())
			continue
		}
		functions := map[types.Type]int{} // by the type of the first parameter
		named := []*types.Named{}
		for _, name := range pkg.Scope().Names() {
			switch object := pkg.Scope().Lookup(name).(type) {
			case *types.Func:
				if params := object.Signature().Params(); params.Len() > 0 {
					functions[pointed(params.At(0).Type())]++
				}
			case *types.TypeName:
				if of, ok := object.Type().(*types.Named); ok {
					named = append(named, of)
				}
			}
		}
		for _, of := range named {
			own := of.NumMethods() + functions[of]
			if shown := types.NewMethodSet(types.NewPointer(of)).Len() + functions[of]; own > maxMethods[dir] || shown > maxShown {
				complaints = append(complaints, fmt.Sprintf("%s.%s: has %d methods, functions that take one first included, and %d with promoted ones: "+
					"at most %d and %d are allowed, so give a part of its state a type of its own", dir, of.Obj().Name(), own, shown, maxMethods[dir], maxShown))
			}
		}
	}
	return complaints
}

// pointed returns the type that a pointer points to, or else the type itself.
func pointed(t types.Type) types.Type {
	if pointer, ok := t.(*types.Pointer); ok {
		return pointer.Elem()
	}
	return t
}

func TestTypesAreNotCrowded(t *testing.T) {
	holds(t, uncrowded)
	methods := func(of, name string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "func (*%s) %s%d() {}\n", of, name, i)
		}
		return b.String()
	}
	crowd := "package pool\ntype t int\nfunc other(int, t) {}\nfunc f(t) {}\nfunc g(*t) {}\n" + methods("t", "m", 34)
	complains(t, uncrowded, []string{"pool.t: has 36 methods, functions that take one first included, and 36"}, "pool/a.go", crowd, "law/a.go", crowd,
		"pool/a_test.go", "package pool\nfunc (t) test() {}")
	complains(t, uncrowded, []string{"pool.whole: has 1 methods, functions that take one first included, and 71"},
		"pool/a.go", "package pool\ntype whole struct { *part; other; field third }\nfunc (whole) m() {}\ntype part struct { third }\ntype other int\ntype third int\n"+
			methods("third", "t", 35)+methods("other", "o", 34)+methods("part", "p", 1)+"type named struct { of part }\n")
}
