package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders files much as GitHub does. The files are our own, so raw HTML is allowed.
var markdown = goldmark.New(
	goldmark.WithExtensions(
		extension.Linkify, extension.Strikethrough, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
	),
	goldmark.WithRendererOptions(
		html.WithUnsafe(),
		renderer.WithNodeRenderers(util.Prioritized(code{}, 100)), // before goldmark's own renderers, which have 500 and more
	),
)

// parse reads the Markdown of a page: its title, its headings with their anchors, and its parts for
// the search.
func (p *page) parse() {
	p.tree = markdown.Parser().Parse(text.NewReader(p.markdown))
	p.parts = []part{{}}
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.addHeading(n)
			return ast.WalkSkipChildren, nil
		case *east.Table:
			p.describe(n)
		case *ast.Text, *ast.FencedCodeBlock, *ast.CodeBlock:
			last := &p.parts[len(p.parts)-1]
			last.Text += " " + p.plain(n)
		}
		return ast.WalkContinue, nil
	})
}

// addHeading gives a heading its anchor, and begins a part of the page.
func (p *page) addHeading(h *ast.Heading) {
	said := p.plain(h)
	id := p.anchor(said)
	h.SetAttributeString("id", []byte(id))
	if h.Level == 1 {
		p.Title = said
		return
	}
	p.parts = append(p.parts, part{Anchor: id, Heading: said})
	if h.Level <= 3 {
		p.Headings = append(p.Headings, heading{h.Level, id, said})
	}
}

// anchor is the anchor that GitHub gives a heading with this text: lower case, without
// punctuation, a hyphen for each space, and a number if the anchor is taken.
func (p *page) anchor(said string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, said)
	unique := id
	for n := 1; p.anchors[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	p.anchors[unique] = true
	return unique
}

// describe lets a table scroll, also by keyboard, and gives each cell the name of its column. The
// roles are for the narrowest screens, on which the style stacks the rows, so that a browser sees
// no table.
func (p *page) describe(table ast.Node) {
	set(table, "class", "scroll")
	set(table, "role", "table")
	set(table, "tabindex", "0")
	head := table.FirstChild()
	for h := head.FirstChild(); h != nil; h = h.NextSibling() {
		if !h.HasChildren() {
			set(h, "role", "cell") // a screen reader has nothing to announce for it
		}
	}
	for row := head.NextSibling(); row != nil; row = row.NextSibling() {
		set(row, "role", "row")
		h := head.FirstChild()
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			set(cell, "role", "cell")
			if name := p.plain(h); name != "" && cell != row.FirstChild() {
				set(cell, "data-head", name)
			}
			h = h.NextSibling()
		}
	}
}

func set(n ast.Node, name, value string) { n.SetAttributeString(name, []byte(value)) }

// plain is the text of a node without its markup.
func (p *page) plain(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		said := string(n.Segment.Value(p.markdown))
		if n.SoftLineBreak() {
			said += " "
		}
		return said
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return string(n.Lines().Value(p.markdown))
	}
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(p.plain(c))
	}
	return b.String()
}

// code renders blocks of code, with the classes that site/static/style.css colours.
type code struct{}

var formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.PreventSurroundingPre(true))

func (code) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var lexer chroma.Lexer
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		lexer = lexers.Get(string(fenced.Language(source)))
	}
	if lexer == nil {
		lexer = lexers.Fallback
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, string(n.Lines().Value(source)))
	if err != nil {
		return ast.WalkStop, err
	}
	fmt.Fprint(w, `<pre role="group" aria-label="Code" tabindex="0"><code>`)
	err = formatter.Format(w, styles.Fallback, tokens)
	fmt.Fprint(w, "</code></pre>\n")
	return ast.WalkContinue, err
}
