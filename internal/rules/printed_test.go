package rules

import (
	"fmt"
	"go/ast"
	"path"
	"strconv"
	"testing"
)

// printed demands a String method of exported types with locks or atomics. Package fmt reads
// the fields of other types without their locks, so that printing one is a data race.
func printed(t *tree) (complaints []string) {
	locks, prints := map[string]string{}, map[string]bool{} // by directory and name
	for _, file := range t.sources {
		for _, decl := range file.Decls {
			if method, ok := decl.(*ast.FuncDecl); ok && method.Recv != nil && method.Name.Name == "String" {
				prints[file.dir+"."+receiver(method)] = true
			}
		}
	}
	for known := -1; known < len(locks); { // a type may contain one that comes later
		known = len(locks)
		for _, file := range t.sources {
			for spec := range specs[*ast.TypeSpec](file.File) {
				if lock := file.lock(spec.Type, locks); lock != "" && !file.test {
					locks[file.dir+"."+spec.Name.Name] = lock
				}
			}
		}
	}
	for file := range t.public() {
		for spec := range specs[*ast.TypeSpec](file.File) {
			name := file.dir + "." + spec.Name.Name
			if spec.Name.IsExported() && locks[name] != "" && !prints[name] {
				complaints = append(complaints, fmt.Sprintf("%s: exported %s has a %s and no String method, so printing one is a data race: "+
					"have String return the snapshot by internal/wire", t.at(spec), spec.Name.Name, locks[name]))
			}
		}
	}
	return complaints
}

// lock returns the lock or atomic that fmt reads when it prints a value of the type, empty
// without one. Behind a pointer fmt reads nothing. An embedded pointer still counts: its
// locks guard the fields beside it.
func (s source) lock(expr ast.Expr, locks map[string]string) (found string) {
	ast.Inspect(expr, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Field:
			if pointer, ok := node.Type.(*ast.StarExpr); ok && node.Names == nil && found == "" {
				found = s.lock(pointer.X, locks)
			}
			if found == "" {
				found = s.lock(node.Type, locks)
			}
			return false
		case *ast.StarExpr, *ast.FuncType, *ast.InterfaceType, *ast.ChanType:
			return false
		case *ast.MapType:
			found = s.lock(node.Value, locks)
			return false
		case *ast.Ident:
			if found == "" {
				found = locks[s.dir+"."+node.Name]
			}
		case *ast.SelectorExpr:
			found = s.lockOf(node, locks)
			return false
		}
		return found == ""
	})
	return found
}

// lockOf returns the lock in a type of another package.
func (s source) lockOf(name *ast.SelectorExpr, locks map[string]string) string {
	for _, spec := range s.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		of := name.X.(*ast.Ident).Name
		if path.Base(imported) != of && (spec.Name == nil || spec.Name.Name != of) {
			continue
		}
		if imported == "sync" || imported == "sync/atomic" {
			return path.Base(imported) + "." + name.Sel.Name
		}
		if dir, ours := ownPackage(imported); ours {
			return locks[dir+"."+name.Sel.Name]
		}
	}
	return ""
}

func TestTypesWithLocksArePrinted(t *testing.T) {
	holds(t, printed)
	complains(t, printed,
		[]string{
			"pool/a.go:3: exported Mutex has a sync.Mutex ", "pool/a.go:4: exported Count has a atomic.Int64 ", "pool/a.go:5: exported Generic has a atomic.Pointer ",
			"pool/a.go:6: exported Deep has a sync.Mutex ", "pool/a.go:7: exported Shared has a sync.Mutex ", "pool/a.go:8: exported Other has a atomic.Bool ",
		},
		"pool/a.go", `package pool
import ("sync"; "sync/atomic"; w "github.com/weir-go/weir/internal/window"; "example.com/sync2")
type Mutex struct { a int; mu sync.Mutex }
type Count map[string]atomic.Int64
type Generic struct { p atomic.Pointer[Mutex] }
type Deep struct { parts [2]part }
type Shared struct { *part; n int }
type Other struct { w w.Meter }
type part struct { mu sync.Mutex }
type InWords struct { mu sync.Mutex }
func (*InWords) String() string { return "" }
type Behind struct { p *part; f func(part); i interface{ M(part) }; m map[part]int; sync2.Mutex }`,
		"internal/window/a.go", "package window; import \"sync/atomic\"; type Meter struct { on atomic.Bool }",
		"cmd/weir/a.go", "package main; import \"sync\"; type T struct { sync.Mutex }")
}
