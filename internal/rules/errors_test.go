package rules

import (
	"fmt"
	"go/ast"
	"go/types"
	"testing"
)

// faults demands one name for wrong settings of a caller: ErrConfig, with the text
// "<package>: invalid configuration", which matches package weir's. ErrInvalid is for
// measured values, which only package load has.
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
				want := fmt.Sprintf("settings.ErrConfigOf(%q)", file.Name.Name)
				if file.dir == "." {
					want = "settings.ErrConfig"
				}
				switch {
				case name.Name == "ErrInvalid" && file.dir != "load":
					complaints = append(complaints, t.at(name)+": ErrInvalid is for a measured value that makes no sense: call it ErrConfig")
				case name.Name == "ErrConfig" && (i >= len(spec.Values) || types.ExprString(spec.Values[i]) != want):
					complaints = append(complaints, fmt.Sprintf("%s: ErrConfig is of its own kind: want %s", t.at(name), want))
				}
			}
			return false
		})
	}
	return complaints
}

func TestConfigurationErrorsHaveOneName(t *testing.T) {
	holds(t, faults)
	complains(t, faults, []string{"law/a.go:2: ErrInvalid is for", "pid/a.go:2: ErrConfig is of its own kind"},
		"law/a.go", "package law\nvar ErrInvalid = errors.New(\"law: invalid\")\nvar ErrConfig = settings.ErrConfigOf(\"law\")",
		"pid/a.go", "package pid\nvar ErrConfig = errors.New(\"pid: invalid\")",
		"load/a.go", "package load\nvar ErrInvalid = errors.New(\"load: invalid reading\")")
}
