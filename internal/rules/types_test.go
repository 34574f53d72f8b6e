package rules

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxMethods is the maximum number of methods of a type of a package. A function whose first
// parameter is of the type counts as one: it differs from a method in spelling only. The
// Node of the admission core once had 138 (decision 0017).
var maxMethods = map[string]int{"internal/admit": 60, "pool": 35}

// uncrowded limits the methods of one type.
func uncrowded(t *tree) (complaints []string) {
	methods := map[string]int{} // by package and type
	for _, file := range t.sources {
		if file.test || maxMethods[file.dir] == 0 {
			continue
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first := f.Type.Params
			if f.Recv != nil {
				first = f.Recv
			}
			if len(first.List) > 0 {
				methods[path.Join(file.dir, strings.TrimPrefix(types.ExprString(first.List[0].Type), "*"))]++
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(methods)) {
		if most := maxMethods[path.Dir(of)]; methods[of] > most {
			complaints = append(complaints, fmt.Sprintf("%s: has %d methods, functions that take one first included: "+
				"at most %d are allowed, so give a part of its state a type of its own", of, methods[of], most))
		}
	}
	return complaints
}

func TestTypesAreNotCrowded(t *testing.T) {
	holds(t, uncrowded)
	crowd := "package pool\nfunc other(int, t) {}\nfunc f(t) {}\nfunc g(*t) {}\n" + strings.Repeat("func (*t) m() {}\n", 34)
	complains(t, uncrowded, []string{"pool/t: has 36 methods, functions that take one first included"}, "pool/a.go", crowd, "law/a.go", crowd,
		"pool/a_test.go", "package pool\nfunc (t) test() {}")
}
