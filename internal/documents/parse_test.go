package documents

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
)

// A snippet is a block of Go, parsed into files of a package: its own, and one for the
// comment above it.
type snippet struct {
	Block
	files []*ast.File
	whole bool // a file with its imports that a reader can copy
}

// elided matches a line of dots, which stands for omitted code.
var elided = regexp.MustCompile(`(?m)^\s*\.\.\.$`)

// parse parses a block, which is a file, declarations, or statements.
func parse(fset *token.FileSet, b Block) (snippet, error) {
	text := fmt.Sprintf("//line %s:%d\n%s", b.Document, b.Line+1, elided.ReplaceAllString(b.Text, ""))
	file, err := parser.ParseFile(fset, "", text, 0)
	if err == nil {
		return snippet{b, []*ast.File{file}, true}, nil
	}
	if file, err = parser.ParseFile(fset, "", "package p\n"+text, 0); err != nil {
		if file, err = parser.ParseFile(fset, "", "package p\nfunc _() {\n"+text+"\n}\n", 0); err != nil {
			return snippet{}, err
		}
		finish(file.Decls[0].(*ast.FuncDecl))
	}
	files := []*ast.File{file}
	if b.Hidden != "" {
		above, err := parser.ParseFile(fset, "", fmt.Sprintf("package p\n//line %s:%d\n%s", b.Document, b.hiddenAt, b.Hidden), 0)
		if err != nil {
			return snippet{}, err
		}
		files = append(files, above)
	}
	return snippet{b, files, false}, nil
}

// finish adds the result types that the statements return, and allows unused expressions.
func finish(f *ast.FuncDecl) {
	results := 0
	ast.Inspect(f.Body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			use(node.Body)
			return false
		case *ast.ReturnStmt:
			results = max(results, len(node.Results))
		}
		return true
	})
	use(f.Body)
	if results == 0 {
		return
	}
	// Nearly all functions return an error last; the values before it are numbers in
	// documents.
	list := &ast.FieldList{}
	for range results - 1 {
		list.List = append(list.List, &ast.Field{Type: ast.NewIdent("int")})
	}
	f.Type.Results = &ast.FieldList{List: append(list.List, &ast.Field{Type: ast.NewIdent("error")})}
	f.Body.List = append(f.Body.List, &ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent("panic"), Args: []ast.Expr{ast.NewIdent("nil")}}})
}

// use assigns an unused expression, such as a struct literal, to the blank identifier.
func use(body *ast.BlockStmt) {
	for i, statement := range body.List {
		if alone, ok := statement.(*ast.ExprStmt); ok {
			switch alone.X.(type) {
			case *ast.CallExpr, *ast.UnaryExpr:
			default:
				body.List[i] = &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, Tok: token.ASSIGN, Rhs: []ast.Expr{alone.X}}
			}
		}
	}
}

func declared(files []*ast.File) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.FuncDecl:
				names[declaration.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range declaration.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							names[name.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

// mentioned returns the names in a file: before, the ones before a dot, which may be
// packages, and all.
func mentioned(file *ast.File) (before, all map[string]bool) {
	before, all = map[string]bool{}, map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if x, ok := node.X.(*ast.Ident); ok {
				before[x.Name] = true
			}
		case *ast.Ident:
			all[node.Name] = true
		}
		return true
	})
	return before, all
}
