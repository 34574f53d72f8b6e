package main

import (
	"bytes"
	"fmt"
	"html"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// nodes renders the nodes that differ from goldmark's rendering.
type nodes struct{}

// RegisterFuncs registers the renderers.
func (nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
	r.Register(ast.KindHeading, renderHeading)
	r.Register(east.KindTable, renderTable)
	r.Register(east.KindTableCell, renderCell)
}

// renderHeading gives a heading a link to itself.
func renderHeading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	switch {
	case entering:
		fmt.Fprintf(w, `<h%d id="%s">`, h.Level, id)
	case h.Level == 1:
		fmt.Fprint(w, "</h1>\n")
	default:
		fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to: %s">#</a></h%d>`+"\n", id, html.EscapeString(plain(h, source)), h.Level)
	}
	return ast.WalkContinue, nil
}

// renderTable puts a table into a box that scrolls on narrow screens, also by keyboard.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprint(w, `<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>`+"\n")
	} else {
		fmt.Fprint(w, "</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// renderCell makes a header without text a plain cell, because a screen reader has nothing to
// announce for it.
func renderCell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "td"
	if n.Parent().Kind() == east.KindTableHeader && n.HasChildren() {
		tag = "th"
	}
	if !entering {
		fmt.Fprintf(w, "</%s>\n", tag)
		return ast.WalkContinue, nil
	}
	if align := n.(*east.TableCell).Alignment; align != east.AlignNone {
		fmt.Fprintf(w, `<%s class="%s">`, tag, align)
	} else {
		fmt.Fprintf(w, "<%s>", tag)
	}
	return ast.WalkContinue, nil
}

// renderCode highlights a block of code.
func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var code bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		code.Write(line.Value(source))
	}
	language := ""
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	return ast.WalkContinue, highlight(w, language, code.String())
}
