package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/doc"
	"go/format"
	"go/printer"
	"regexp"
	"strings"
)

// An example is a runnable example of a package.
type example struct {
	Title, Doc, Output string
	Code               markup
}

// examples lists the examples of a package, the package's own first.
func (p *goPackage) examples() (examples []example, err error) {
	add := func(of string, found []*doc.Example) {
		for _, e := range found {
			code, codeErr := p.code(e)
			if codeErr != nil {
				err = codeErr
			}
			title := cmp.Or(of, "Package")
			if e.Suffix != "" {
				title += " (" + e.Suffix + ")"
			}
			examples = append(examples, example{title, e.Doc, strings.TrimSpace(e.Output), code})
		}
	}
	functions := func(receiver string, functions []*doc.Func) {
		for _, f := range functions {
			add(receiver+f.Name, f.Examples)
		}
	}
	add("", p.Examples)
	functions("", p.Funcs)
	for _, t := range p.Types {
		add(t.Name, t.Examples)
		functions("", t.Funcs)
		functions(t.Name+".", t.Methods)
	}
	return examples, err
}

// outputComment matches the output comment of an example, which is shown beside its code.
var outputComment = regexp.MustCompile(`(?is)\n[ \t]*//[ \t]*(unordered )?output:.*$`)

// code is the body of an example, or the whole file of a whole-file example.
func (p *goPackage) code(e *doc.Example) (markup, error) {
	var b bytes.Buffer
	if err := format.Node(&b, p.fset, &printer.CommentedNode{Node: e.Code, Comments: e.Comments}); err != nil {
		return "", err
	}
	text := b.String()
	if _, block := e.Code.(*ast.BlockStmt); block {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
		text = strings.Trim(strings.ReplaceAll(outputComment.ReplaceAllString(strings.TrimRight(text, "\n"), ""), "\n\t", "\n"), "\n")
	}
	var code bytes.Buffer
	err := highlight(&code, "go", text)
	return markup(code.String()), err
}
