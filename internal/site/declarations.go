package main

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/format"
)

// A declaration is what a package declares, as its page shows it: a group of constants or variables, a function, a method or a type.
type declaration struct {
	name      // of a function, a method or a type; a group has none
	Code, Doc markup
}

// declarations lists what a package exports in the order of its names, each type before what belongs to it.
func (s *site) declarations(p *goPackage) (all []declaration, err error) {
	add := func(n name, decl ast.Decl, text string, names ...string) {
		if err != nil {
			return
		}
		d := declaration{name: n}
		if d.Code, err = p.declared(decl, names); err != nil {
			return
		}
		d.Doc, err = s.comment(p, text, 4)
		all = append(all, d)
	}
	values := func(values []*doc.Value) {
		for _, v := range values {
			add(name{}, v.Decl, v.Doc, v.Names...)
		}
	}
	functions := func(kind, receiver string, functions []*doc.Func, of bool) {
		for _, f := range functions {
			add(name{Kind: kind, ID: receiver + f.Name, Of: of}, f.Decl, f.Doc)
		}
	}
	values(p.Consts)
	values(p.Vars)
	functions("func", "", p.Funcs, false)
	for _, t := range p.Types {
		add(name{Kind: "type", ID: t.Name}, t.Decl, t.Doc)
		values(t.Consts)
		values(t.Vars)
		functions("func", "", t.Funcs, true)
		functions("method", t.Name+".", t.Methods, true)
	}
	return all, err
}

// declared is the code of a declaration. The names that it has no heading for become anchors.
func (p *goPackage) declared(decl ast.Decl, names []string) (markup, error) {
	var text, code bytes.Buffer
	if err := format.Node(&text, p.fset, decl); err != nil {
		return "", err
	}
	err := highlight(&code, "go", text.String(), names...)
	return markup(code.String()), err
}
