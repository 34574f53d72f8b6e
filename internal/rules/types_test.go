package rules

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxMethods is the maximum number of methods of a type of a package. A function whose first
// parameter is of the type counts as one: it differs from a method in spelling only. The
// Node of the admission core once had 138 (decision 0017).
var maxMethods = map[string]int{"internal/admit": 60, "pool": 35}

// maxShown is the maximum, with the methods of embedded types.
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
