package main

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/format"
)

// A declaration is a declaration of a package as shown on its page: a group of constants or
// variables, a function, a method or a type.
type declaration struct {
	name      // of a function, a method or a type; a group has no name
	Code, Doc markup
}

// declarations lists the exported declarations of a package, in the order of its names.
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
	p.visit(
		func(_ string, v *doc.Value, _ bool) { add(name{}, v.Decl, v.Doc, v.Names...) },
		func(n name, decl ast.Decl, text string) { add(n, decl, text) },
	)
	return all, err
}

// declared is the code of a declaration. Names without a heading become anchors.
func (p *goPackage) declared(decl ast.Decl, names []string) (markup, error) {
	var text, code bytes.Buffer
	if err := format.Node(&text, p.fset, decl); err != nil {
		return "", err
	}
	err := highlight(&code, "go", text.String(), names...)
	return markup(code.String()), err
}
