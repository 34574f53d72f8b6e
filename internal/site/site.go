package main

import (
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
)

type site struct {
	root    string
	nav     nav
	layout  *template.Template
	pages   []*page // in the order of the navigation; the home page is the first
	byFile  map[string]*page
	missing *page           // shown for an address without a page
	assets  map[string]bool // pictures that pages show
}

type page struct {
	File     string // in the repository
	Path     string // below the base, with a slash at its end; "" is the home page
	Title    string // its first heading
	Short    string // name in the navigation
	Parent   *page  // of a page without a line in the navigation
	Headings []heading
	Body     template.HTML

	markdown []byte
	tree     ast.Node
	anchors  map[string]bool
	parts    []part
}

// A heading is a line of a page's table of contents.
type heading struct {
	Level    int
	ID, Text string
}

func load(root string) (*site, error) {
	s := &site{root: root, byFile: map[string]*page{}, assets: map[string]bool{}}
	var err error
	if s.nav, err = readNav(root); err != nil {
		return nil, err
	}
	if s.layout, err = template.ParseFiles(filepath.Join(root, "site/page.html")); err != nil {
		return nil, err
	}
	if s.missing, err = s.read("site/missing.md"); err != nil {
		return nil, err
	}
	if err := s.addAll(); err != nil {
		return nil, err
	}
	wrong := []error{s.complete(), s.render(s.missing)}
	for _, p := range s.pages {
		wrong = append(wrong, s.render(p))
	}
	return s, errors.Join(wrong...)
}

// read reads a file, but not yet its links.
func (s *site) read(file string) (*page, error) {
	text, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return nil, err
	}
	p := &page{File: file, Path: address(file), markdown: text, anchors: map[string]bool{}}
	p.parse()
	if p.Title == "" {
		return nil, fmt.Errorf("%s: has no heading of the first level, which is the title of the page: add one", file)
	}
	p.Short = p.Title
	return p, nil
}

// add reads a page of the site. Two pages at one address would overwrite each other.
func (s *site) add(file string) (*page, error) {
	p, err := s.read(file)
	if err != nil {
		return nil, err
	}
	for _, other := range s.pages {
		if other.Path == p.Path {
			return nil, fmt.Errorf("%s and %s both become %s%s: rename one", other.File, file, base, p.Path)
		}
	}
	s.pages = append(s.pages, p)
	s.byFile[file] = p
	return p, nil
}

// address is the path of a file's page: docs/http.md is http/.
func address(file string) string {
	file = strings.TrimSuffix(file, ".md")
	file = strings.TrimPrefix(strings.TrimPrefix(file, "docs/"), "site/")
	if path.Base(file) == "README" {
		file = path.Dir(file)
	}
	if file == "." {
		return ""
	}
	return strings.ToLower(file) + "/"
}
