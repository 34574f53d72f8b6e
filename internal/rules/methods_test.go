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
var maxMethods = map[string]int{"internal/admit": 60, "pool": 35}

// maxShown is the maximum with the methods that a type gets from what it embeds.
const maxShown = 70

// uncrowded limits the methods of one type.
func uncrowded(t *tree) (complaints []string) {
	for _, dir := range slices.Sorted(maps.Keys(maxMethods)) {
		methods := map[string][]string{} // by type
		embeds := map[string][]string{}  // by type, the types that it embeds
		for _, file := range t.files(dir) {
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.FuncDecl:
					for of := range belongsTo(node) {
						methods[of] = append(methods[of], node.Name.Name)
					}
				case *ast.TypeSpec:
					embeds[node.Name.Name] = embedded(node)
				}
				return true
			})
		}
		for _, of := range slices.Sorted(maps.Keys(methods)) {
			for _, count := range []struct {
				what  string
				names []string
				most  int
			}{
				{"methods", methods[of], maxMethods[dir]},
				{"methods, promoted ones included", withPromoted(of, methods, embeds), maxShown},
			} {
				if n := len(count.names); n > count.most {
					complaints = append(complaints, fmt.Sprintf("%s.%s: has %d %s, functions that take one first included, "+
						"at most %d are allowed: give a part of its state a type of its own (%s)",
						dir, of, n, count.what, count.most, strings.Join(count.names, ", ")))
				}
			}
		}
	}
	return complaints
}

// embedded returns the types of the same package that a struct embeds.
func embedded(spec *ast.TypeSpec) (types []string) {
	if of, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range of.Fields.List {
			if name := typeName(field.Type); name != "" && len(field.Names) == 0 {
				types = append(types, name)
			}
		}
	}
	return types
}

func withPromoted(of string, methods, embeds map[string][]string) []string {
	all := slices.Clone(methods[of])
	for _, part := range embeds[of] {
		all = append(all, withPromoted(part, methods, embeds)...)
	}
	return all
}

// belongsTo returns the types of a function's receiver and first parameter.
func belongsTo(decl *ast.FuncDecl) map[string]bool {
	of := map[string]bool{}
	for _, fields := range []*ast.FieldList{decl.Recv, decl.Type.Params} {
		if fields == nil || len(fields.List) == 0 {
			continue
		}
		if name := typeName(fields.List[0].Type); name != "" {
			of[name] = true
		}
	}
	return of
}

// typeName is the name of a type of the same package, or of what it points to.
func typeName(expr ast.Expr) string {
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
	crowd := "package pool\ntype t int\ntype few int\nfunc (few) m() {}\nfunc other(int, t) {}\n" + strings.Repeat("func (*t) m() {}\nfunc f(t) {}\n", 18)
	complains(t, uncrowded, []string{"pool.t: has 36 methods"},
		"pool/a.go", crowd,
		"pool/a_test.go", "package pool\nfunc (few) test() {}",
		"law/a.go", crowd)
	complains(t, uncrowded, []string{"pool.whole: has 72 methods, promoted ones included"},
		"pool/a.go", "package pool; type whole struct { *part; other; field t }; func (whole) m() {}; type part struct { t }; type t int"+
			strings.Repeat("; func (t) _() {}", 35)+"; func (part) p() {}"+strings.Repeat("; func (*other) _() {}", 35)+"; type other int",
		"pool/b.go", "package pool; type named struct { of part }; func (named) m() {}")
}
