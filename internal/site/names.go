package main

import (
	"go/ast"
	"go/doc"
	"strings"
)

// A name is something that a package exports.
type name struct {
	Kind, ID, First string // First is the first sentence of its comment
	Of              bool   // it belongs to the type above it
}

// names lists what a package exports: constants, variables and functions, then types, each with what belongs to it.
func (p *goPackage) names() (names []name) {
	values := func(kind string, values []*doc.Value, of bool) {
		for _, v := range values {
			for _, spec := range v.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				said := strings.Join(strings.Fields(spec.Doc.Text()+spec.Comment.Text()), " ")
				if said == "" {
					said = v.Doc
				}
				for _, ident := range spec.Names {
					if ident.IsExported() {
						names = append(names, name{kind, ident.Name, p.Synopsis(said), of})
					}
				}
			}
		}
	}
	functions := func(kind, receiver string, functions []*doc.Func, of bool) {
		for _, f := range functions {
			names = append(names, name{kind, receiver + f.Name, p.Synopsis(f.Doc), of})
		}
	}
	values("const", p.Consts, false)
	values("var", p.Vars, false)
	functions("func", "", p.Funcs, false)
	for _, t := range p.Types {
		names = append(names, name{"type", t.Name, p.Synopsis(t.Doc), false})
		values("const", t.Consts, true)
		values("var", t.Vars, true)
		functions("func", "", t.Funcs, true)
		functions("method", t.Name+".", t.Methods, true)
	}
	return names
}
