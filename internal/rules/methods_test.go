package rules

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxMethods is how many methods a type of a package may have. A function whose first parameter is of
// the type counts as one: it differs from a method in spelling only.
var maxMethods = map[string]int{"pool": 35}

// uncrowded keeps one type from becoming the whole package.
func uncrowded(t *tree) (complaints []string) {
	count := map[string]int{} // by directory and type
	for _, file := range t.sources {
		if _, bounded := maxMethods[file.dir]; !bounded || file.test {
			continue
		}
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok {
				if name := belongsTo(decl); name != "" {
					count[file.dir+"."+name]++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		for dir, most := range maxMethods {
			if len(name) > len(dir) && name[:len(dir)+1] == dir+"." && count[name] > most {
				complaints = append(complaints, fmt.Sprintf("%s: has %d methods, functions that take one first included, "+
					"at most %d are allowed: give a part of its state a type of its own", name, count[name], most))
			}
		}
	}
	return complaints
}

// belongsTo is the name of the type that a function is a method of, or takes first.
func belongsTo(decl *ast.FuncDecl) string {
	of := decl.Recv
	if of == nil {
		of = decl.Type.Params
	}
	if len(of.List) == 0 {
		return ""
	}
	expr := of.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if name, ok := expr.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func TestTypesAreNotCrowded(t *testing.T) {
	holds(t, uncrowded)
	var crowd strings.Builder
	crowd.WriteString("package pool\ntype t int\ntype few int\nfunc (few) m() {}\nfunc other(int, t) {}\n")
	for i := range 18 {
		fmt.Fprintf(&crowd, "func (*t) m%d() {}\nfunc f%d(t) {}\n", i, i)
	}
	complains(t, uncrowded, []string{"pool.t: has 36 methods"},
		"pool/a.go", crowd.String(),
		"pool/a_test.go", "package pool\nfunc (few) test() {}",
		"law/a.go", crowd.String())
}
