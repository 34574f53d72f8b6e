package main

import (
	"github.com/yuin/goldmark/ast"
)

// A page is a page of the site.
type page struct {
	Path  string // below the base, with a slash at its end; "" is the home page
	Title string // its first heading
	Short string // as the navigation names it
	Body  html

	Headings []heading
	anchors  map[string]bool

	file     string // of the repository, if it was made from one
	markdown []byte
	tree     ast.Node
	make     func() (html, error) // its body, once all pages are known
}

// A heading is a line of a page's table of contents.
type heading struct {
	Level    int
	ID, Text string
}
