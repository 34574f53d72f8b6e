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
	r.Register(east.KindTableHeader, renderRow)
	r.Register(east.KindTableRow, renderRow)
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

// renderTable puts a table into a box that scrolls on narrow screens, also by keyboard. The roles
// are for the narrowest ones, on which its rows are stacked, and are no table for a browser.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprint(w, `<div class="scroll" role="group" aria-label="Table" tabindex="0"><table role="table">`+"\n")
	} else {
		fmt.Fprint(w, "</table></div>\n")
	}
	return ast.WalkContinue, nil
}

func renderRow(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	part, first, last := "tbody", n.PreviousSibling() != nil && n.PreviousSibling().PreviousSibling() == nil, n.NextSibling() == nil
	if n.Kind() == east.KindTableHeader {
		part, first, last = "thead", true, true
	}
	switch {
	case entering && first:
		fmt.Fprintf(w, "<%s>\n<tr role=\"row\">\n", part)
	case entering:
		fmt.Fprint(w, "<tr role=\"row\">\n")
	case last:
		fmt.Fprintf(w, "</tr>\n</%s>\n", part)
	default:
		fmt.Fprint(w, "</tr>\n")
	}
	return ast.WalkContinue, nil
}

// renderCell makes a header without text a plain cell, because a screen reader has nothing to
// announce for it. A cell has the text of its header, which stacked rows show.
func renderCell(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, role := "td", "cell"
	if n.Parent().Kind() == east.KindTableHeader && n.HasChildren() {
		tag, role = "th", "columnheader"
	}
	if !entering {
		fmt.Fprintf(w, "</%s>\n", tag)
		return ast.WalkContinue, nil
	}
	fmt.Fprintf(w, `<%s role="%s"`, tag, role)
	if align := n.(*east.TableCell).Alignment; align != east.AlignNone {
		fmt.Fprintf(w, ` class="%s"`, align)
	}
	if head := headOf(n); tag == "td" && head != nil && n.PreviousSibling() != nil && head.HasChildren() {
		fmt.Fprintf(w, ` data-head="%s"`, html.EscapeString(plain(head, source)))
	}
	fmt.Fprint(w, ">")
	return ast.WalkContinue, nil
}

// headOf is the header above a cell.
func headOf(cell ast.Node) ast.Node {
	head := cell.Parent().Parent().FirstChild().FirstChild()
	for c := cell; c.PreviousSibling() != nil && head != nil; c = c.PreviousSibling() {
		head = head.NextSibling()
	}
	return head
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
