package rules

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxMethods is the maximum number of methods of a type of a package. A function whose first
// parameter is of the type counts as one: it differs from a method in spelling only. The
// Node of the admission core once had 138 (decision 0017).
var maxMethods = map[string]int{core: 60, "pool": 35}

// uncrowded limits the methods of one type.
func uncrowded(t *tree) (complaints []string) {
	for _, dir := range slices.Sorted(maps.Keys(maxMethods)) {
		methods := map[string][]string{} // by type
		for _, file := range t.files(dir) {
			for _, decl := range file.Decls {
				if decl, ok := decl.(*ast.FuncDecl); ok {
					for of := range belongsTo(decl) {
						methods[of] = append(methods[of], decl.Name.Name)
					}
				}
			}
		}
		for _, of := range slices.Sorted(maps.Keys(methods)) {
			if n, most := len(methods[of]), maxMethods[dir]; n > most {
				complaints = append(complaints, fmt.Sprintf("%s.%s: has %d methods, functions that take one first included, "+
					"at most %d are allowed: give a part of its state a type of its own (%s)", dir, of, n, most, strings.Join(methods[of], ", ")))
			}
		}
	}
	return complaints
}

// belongsTo returns the types of a function's receiver and first parameter.
func belongsTo(decl *ast.FuncDecl) map[string]bool {
	of := map[string]bool{}
	for _, fields := range []*ast.FieldList{decl.Recv, decl.Type.Params} {
		if fields == nil || len(fields.List) == 0 {
			continue
		}
		expr := fields.List[0].Type
		if star, ok := expr.(*ast.StarExpr); ok {
			expr = star.X
		}
		if name, ok := expr.(*ast.Ident); ok {
			of[name.Name] = true
		}
	}
	return of
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

func TestNodeHasFewMethods(t *testing.T) {
	files := []string{
		core + "/a.go", "package admit; type Node struct{}; func New() {}; func f(n *Node) {}; func g(x int, n *Node) {}; func (n Node) M() {}",
		core + "/b.go", "package admit" + strings.Repeat("; func (*Node) _() {}", maxMethods[core]-1),
		core + "/a_test.go", "package admit; func (*Node) test() {}",
		"law/a.go", "package law; type Node struct{}; func (*Node) M() {}",
	}
	complains(t, uncrowded, []string{core + ".Node: has 61 methods"}, files...)
	files[3] = "package admit"
	complains(t, uncrowded, nil, files...)
}
