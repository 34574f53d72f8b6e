package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders files much as GitHub does. The files are our own, so raw HTML is allowed.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(
		html.WithUnsafe(),
		renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100)), // before goldmark's own renderers, which have 500 and more
	),
)

// parse reads a file: its title, its headings and their anchors, but not yet its links.
func parse(file string, source []byte) (*page, error) {
	p := &page{file: file, markdown: source, anchors: map[string]bool{}}
	p.make = p.render
	p.tree = markdown.Parser().Parse(text.NewReader(source))
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		said := plain(h, source)
		id := p.anchor(said)
		h.SetAttributeString("id", []byte(id))
		switch {
		case h.Level == 1 && p.Title == "":
			p.Title = said
		case h.Level == 2 || h.Level == 3:
			p.Headings = append(p.Headings, heading{h.Level, id, said})
		}
		return ast.WalkSkipChildren, nil
	})
	if err == nil && p.Title == "" {
		err = fmt.Errorf("%s: has no heading of the first level, which is the title of the page: add one", file)
	}
	return p, err
}

// render makes the body of a page, once its links are resolved.
func (p *page) render() (markup, error) {
	var b bytes.Buffer
	err := markdown.Renderer().Render(&b, p.markdown, p.tree)
	return markup(b.String()), err
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

// plain is the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(source))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}
