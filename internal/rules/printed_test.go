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
	types, inWords := map[string]typeIn{}, map[string]bool{} // by directory and name
	for _, file := range t.sources {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil && decl.Name.Name == "String" {
					inWords[file.dir+"."+receiver(decl)] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && !file.test {
						types[file.dir+"."+spec.Name.Name] = typeIn{file, spec.Type}
					}
				}
			}
		}
	}
	for _, file := range t.sources {
		if file.test || isInternal(file.dir) || isProgram(file.dir) {
			continue
		}
		ast.Inspect(file.File, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok && spec.Name.IsExported() && !inWords[file.dir+"."+spec.Name.Name] {
				if lock := (typeIn{file, spec.Type}).lock(types); lock != "" {
					complaints = append(complaints, fmt.Sprintf("%s: exported %s has a %s and no String method, so printing one is a data race: "+
						"have String return the snapshot by internal/wire", t.at(spec), spec.Name.Name, lock))
				}
			}
			return true
		})
	}
	return complaints
}

// A typeIn is a type expression in a file.
type typeIn struct {
	file source
	expr ast.Expr
}

// lock returns the lock or atomic that fmt reads when it prints a value of the type, empty
// without one. Behind a pointer fmt reads nothing. An embedded pointer still counts: its
// locks guard the fields beside it.
func (t typeIn) lock(types map[string]typeIn) string {
	of := func(expr ast.Expr) string { return typeIn{t.file, expr}.lock(types) }
	switch expr := t.expr.(type) {
	case *ast.StructType:
		for _, field := range expr.Fields.List {
			inner := field.Type
			if pointer, ok := inner.(*ast.StarExpr); ok && field.Names == nil {
				inner = pointer.X
			}
			if lock := of(inner); lock != "" {
				return lock
			}
		}
	case *ast.ArrayType:
		return of(expr.Elt)
	case *ast.MapType:
		return of(expr.Value)
	case *ast.IndexExpr:
		return of(expr.X)
	case *ast.Ident:
		return types[t.file.dir+"."+expr.Name].lock(types)
	case *ast.SelectorExpr:
		for _, spec := range t.file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if name := expr.X.(*ast.Ident).Name; path.Base(imported) != name && (spec.Name == nil || spec.Name.Name != name) {
				continue
			}
			if imported == "sync" || imported == "sync/atomic" {
				return path.Base(imported) + "." + expr.Sel.Name
			}
			if dir, ours := ownPackage(imported); ours {
				return types[dir+"."+expr.Sel.Name].lock(types)
			}
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
