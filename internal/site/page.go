package main

import (
	"html/template"

	"github.com/yuin/goldmark/ast"
)

// markup is HTML that needs no escaping.
type markup = template.HTML

type page struct {
	Path  string // below the base, with a slash at its end; "" is the home page
	Title string // its first heading
	Short string // name in the navigation
	Body  markup

	Headings []heading
	anchors  map[string]bool

	file     string // its file in the repository, if it has one
	markdown []byte
	tree     ast.Node
	make     func() (markup, error) // makes its body, once all pages are known
}

// A heading is a line of a page's table of contents.
type heading struct {
	Level    int
	ID, Text string
}
