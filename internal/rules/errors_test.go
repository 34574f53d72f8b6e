package rules

import (
	"fmt"
	"go/ast"
	"testing"
)

// faults holds the one word for what a caller set wrongly: ErrConfig, with the text "<package>: invalid configuration".
// ErrInvalid is for values that were measured, which only package load has.
func faults(t *tree) (complaints []string) {
	for _, file := range t.sources {
		if file.test || isInternal(file.dir) || isProgram(file.dir) {
			continue
		}
		ast.Inspect(file.File, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				want := fmt.Sprintf("errors.New(%q)", file.Name.Name+": invalid configuration")
				switch {
				case name.Name == "ErrInvalid" && file.dir != "load":
					complaints = append(complaints, t.at(name)+": ErrInvalid is for a measured value that makes no sense: call it ErrConfig")
				case name.Name == "ErrConfig" && (i >= len(spec.Values) || text(spec.Values[i]) != want):
					complaints = append(complaints, fmt.Sprintf("%s: ErrConfig has a text of its own: want %s", t.at(name), want))
				}
			}
			return false
		})
	}
	return complaints
}

// text is errors.New("...") as written, and "" for other expressions.
func text(expr ast.Expr) string {
	call, ok := expr.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return ""
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return ""
	}
	return fmt.Sprintf("errors.New(%s)", literal.Value)
}

func TestConfigurationErrorsHaveOneName(t *testing.T) {
	holds(t, faults)
	complains(t, faults, []string{"law/a.go:2: ErrInvalid is for", "pid/a.go:2: ErrConfig has a text of its own"},
		"law/a.go", "package law\nvar ErrInvalid = errors.New(\"law: invalid\")\nvar ErrConfig = errors.New(\"law: invalid configuration\")",
		"pid/a.go", "package pid\nvar ErrConfig = errors.New(\"pid: invalid\")",
		"load/a.go", "package load\nvar ErrInvalid = errors.New(\"load: invalid reading\")")
}
