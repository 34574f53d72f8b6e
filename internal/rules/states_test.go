package rules

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// states demands one noun for the state of a thing, Snapshot: in exported types, and in
// methods that read one.
func states(t *tree) (complaints []string) {
	for _, file := range t.sources {
		if file.test || isInternal(file.dir) || isProgram(file.dir) {
			continue
		}
		for _, decl := range file.Decls {
			var names []*ast.Ident
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil && ast.IsExported(receiver(decl)) {
					names = append(names, decl.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						names = append(names, spec.Name)
					}
				}
			}
			for _, name := range names {
				other := func(noun string) bool { return strings.HasSuffix(name.Name, noun) }
				if name.IsExported() && slices.ContainsFunc([]string{"State", "Status", "Usage", "Stats"}, other) {
					complaints = append(complaints, fmt.Sprintf("%s: exported %s: the state of a thing is its Snapshot", t.at(name), name.Name))
				}
			}
		}
	}
	return complaints
}

func TestStateIsASnapshot(t *testing.T) {
	holds(t, states)
	complains(t, states, []string{"load/a.go:2: exported State", "load/a.go:3: exported SideStatus", "load/a.go:4: exported Usage"},
		"load/a.go", `package load
type State struct{}
type SideStatus struct{}
func (m *Monitor) Usage() int { return 0 }
func (m *monitor) Usage() int { return 0 }
func HTTPStatus() int { return 0 }
type Statement struct{ Status int }`)
}
