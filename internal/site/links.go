package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// repository is the target of links to files that are no page.
const repository = "https://github.com/weir-go/weir"

// reference has the documentation of the packages.
const reference = "https://pkg.go.dev/github.com/weir-go/weir/"

// external matches addresses that are not changed.
var external = regexp.MustCompile(`^([a-z]+:|//)`)

// attribute finds the addresses in HTML.
var attribute = regexp.MustCompile(`(?i)\b(?:src|href|srcset)\s*=\s*(?:"[^"]*"|'[^']*')`)

// resolve replaces the links and pictures of a page by their addresses on the site.
func (s *site) resolve(p *page) error {
	var wrong []error
	complain := func(about []byte, err error) {
		line := 1
		if at := bytes.Index(p.markdown, about); at > 0 {
			line += bytes.Count(p.markdown[:at], []byte("\n"))
		}
		wrong = append(wrong, fmt.Errorf("%s:%d: %w", p.file, line, err))
	}
	replace := func(target []byte, of func(*page, string) (string, error)) []byte {
		address, err := of(p, string(target))
		if err != nil {
			complain(target, err)
		}
		return []byte(address)
	}
	var raw []ast.Node
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			s.retitle(p, n)
			n.Destination = replace(n.Destination, s.address)
		case *ast.Image:
			n.Destination = replace(n.Destination, s.picture)
		case *ast.RawHTML, *ast.HTMLBlock:
			raw = append(raw, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range raw {
		text := htmlOf(n, p.markdown)
		text = attribute.ReplaceAllFunc(text, func(found []byte) []byte {
			of := s.picture
			if bytes.EqualFold(found[:1], []byte("h")) { // href
				of = s.address
			}
			at := bytes.IndexAny(found, `"'`) + 1
			return slices.Concat(found[:at], replace(found[at:len(found)-1], of), found[len(found)-1:])
		})
		s := ast.NewString(text)
		s.SetCode(true) // otherwise it would be escaped
		n.Parent().ReplaceChild(n.Parent(), n, s)
	}
	return errors.Join(append(wrong, err)...)
}

// retitle replaces the text of a link that is a file name by the name of the page.
func (s *site) retitle(p *page, link *ast.Link) {
	file, _, _ := strings.Cut(string(link.Destination), "#")
	if to := s.byFile[path.Join(path.Dir(p.file), file)]; to != nil && plain(link, p.markdown) == path.Base(file) {
		link.RemoveChildren(link)
		link.AppendChild(link, ast.NewString([]byte(to.Short)))
	}
}

// remark matches comments in a document, which are only for its tests.
var remark = regexp.MustCompile(`(?s)<!--.*?-->\n?`)

// htmlOf returns the raw HTML of a file, without comments.
func htmlOf(n ast.Node, source []byte) []byte {
	var b []byte
	switch n := n.(type) {
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b = append(b, s.Value(source)...)
		}
	case *ast.HTMLBlock:
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			b = append(b, s.Value(source)...)
		}
		if n.HasClosure() {
			b = append(b, n.ClosureLine.Value(source)...)
		}
	}
	return remark.ReplaceAll(b, nil)
}

// picture is the address on the site of a page's picture.
func (s *site) picture(p *page, target string) (string, error) {
	if name, _, _ := strings.Cut(target, "#"); !external.MatchString(target) && !pictures[path.Ext(name)] {
		return "", fmt.Errorf("shows %s, which is no picture for the site: want one of %s", target, strings.Join(slices.Sorted(maps.Keys(pictures)), ", "))
	}
	return s.address(p, target)
}

// address is the address of a link's target, on the site or in the repository.
func (s *site) address(p *page, target string) (string, error) {
	if external.MatchString(target) {
		return target, nil
	}
	name, fragment, _ := strings.Cut(target, "#")
	file := p.file
	if name != "" {
		file = path.Join(path.Dir(p.file), name)
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	to := s.byFile[file]
	if to == nil { // a folder
		to = s.byFile[path.Join(file, "README.md")]
	}
	if to != nil {
		if fragment != "" && !to.anchors[fragment[1:]] {
			return "", fmt.Errorf("links to %s, but %s has no such heading", target, file)
		}
		if to == p {
			return fragment, nil
		}
		return s.base + to.Path + fragment, nil
	}
	info, err := os.Stat(filepath.Join(s.root, file))
	switch {
	case err != nil:
		return "", fmt.Errorf("links to %s, but there is no %s", target, file)
	case path.Base(file) == "doc.go":
		return reference + path.Dir(file) + fragment, nil
	case info.IsDir():
		return repository + "/tree/main/" + file + fragment, nil
	case pictures[path.Ext(file)]:
		s.assets[file] = true
		return s.base + file, nil
	}
	return repository + "/blob/main/" + file + fragment, nil
}

// pictures are copied to the site, to the same path as in the repository.
var pictures = map[string]bool{".gif": true, ".jpeg": true, ".jpg": true, ".png": true, ".svg": true, ".webp": true}
