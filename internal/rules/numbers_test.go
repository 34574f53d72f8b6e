package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// numbered demands that exported constants are declared with explicit values. A counted
// constant, or one that takes the value of an internal one, changes its value when another
// is inserted before it. That breaks stored values and compiled programs of users.
func numbered(t *tree) (complaints []string) {
	for _, file := range t.sources {
		if file.test || isInternal(file.dir) || isProgram(file.dir) {
			continue
		}
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				continue
			}
			for _, spec := range decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if name.IsExported() && (i >= len(spec.Values) || derived(file, spec.Values[i])) {
						complaints = append(complaints, fmt.Sprintf("%s: exported constant %s has no value of its own: "+
							"write its number, and hold it against an internal one by a test", t.at(name), name.Name))
					}
				}
			}
		}
	}
	return complaints
}

// derived reports whether the value of an expression depends on its position, or on an
// unexported name.
func derived(file source, value ast.Expr) (yes bool) {
	ast.Inspect(value, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			for _, imported := range file.imported() {
				of, _ := node.X.(*ast.Ident)
				if dir, ours := ownPackage(imported); ours && isInternal(dir) && of != nil && strings.HasSuffix(dir, "/"+of.Name) {
					yes = true
				}
			}
			return false
		case *ast.Ident:
			builtin := types.Universe.Lookup(node.Name)
			if node.Name == "iota" || builtin == nil && !node.IsExported() {
				yes = true
			}
		}
		return true
	})
	return yes
}

func TestExportedConstantsAreNumbered(t *testing.T) {
	holds(t, numbered)
	complains(t, numbered, []string{"load/a.go:5: exported constant B", "load/a.go:6: exported constant C", "load/a.go:7: exported constant D", "load/a.go:8: exported constant E"},
		"load/a.go", `package load
import ("math"; "github.com/weir-go/weir/internal/reply")
const (
	A Kind = 1
	B Kind = iota
	C
	D = Kind(reply.D)
	E = e
	F = math.MaxInt64
	G = "g"
	H = time.Duration(A) * 2
	i = iota
	J = -float64(2)
)`,
		"internal/reply/a.go", "package reply; const A = iota",
		"load/a_test.go", "package load; const A = iota")
}
