package main

import (
	"cmp"
	"go/ast"
	"go/doc"
	"strings"
)

type name struct {
	Kind, ID, First string // First is the first sentence of its comment
	Of              bool   // belongs to the type above
}

// visit visits the exported names of a package in the order of its page: constants, variables
// and functions, then types, each before its own members. It calls group for each declaration
// of constants or variables, and single for each function, method and type.
func (p *goPackage) visit(group func(kind string, v *doc.Value, of bool), single func(n name, decl ast.Decl, text string)) {
	groups := func(kind string, values []*doc.Value, of bool) {
		for _, v := range values {
			group(kind, v, of)
		}
	}
	functions := func(kind, receiver string, functions []*doc.Func, of bool) {
		for _, f := range functions {
			single(name{kind, receiver + f.Name, p.Synopsis(f.Doc), of}, f.Decl, f.Doc)
		}
	}
	groups("const", p.Consts, false)
	groups("var", p.Vars, false)
	functions("func", "", p.Funcs, false)
	for _, t := range p.Types {
		single(name{"type", t.Name, p.Synopsis(t.Doc), false}, t.Decl, t.Doc)
		groups("const", t.Consts, true)
		groups("var", t.Vars, true)
		functions("func", "", t.Funcs, true)
		functions("method", t.Name+".", t.Methods, true)
	}
}

func (p *goPackage) names() (names []name) {
	p.visit(func(kind string, v *doc.Value, of bool) {
		for _, spec := range v.Decl.Specs {
			spec := spec.(*ast.ValueSpec)
			said := strings.Join(strings.Fields(spec.Doc.Text()+spec.Comment.Text()), " ")
			said = cmp.Or(said, v.Doc)
			for _, ident := range spec.Names {
				if ident.IsExported() {
					names = append(names, name{kind, ident.Name, p.Synopsis(said), of})
				}
			}
		}
	}, func(n name, _ ast.Decl, _ string) { names = append(names, n) })
	return names
}
