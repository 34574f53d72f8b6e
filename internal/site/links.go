package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// repository is the target of links to files that are no page.
const repository = "https://github.com/weir-go/weir"

// reference has the documentation of the packages.
const reference = "https://pkg.go.dev/github.com/weir-go/weir/"

var (
	// remark matches comments in a document, which are only for its tests.
	remark = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
	// attribute matches an address in HTML; in code the quotes are escaped.
	attribute = regexp.MustCompile(`\b(src|href)="([^"]*)"`)
	// external matches addresses that are not changed.
	external = regexp.MustCompile(`^([a-z]+:|//)`)
)

// render makes the body of a page, with its links and pictures at their addresses on the site.
func (s *site) render(p *page) error {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.markdown, p.tree); err != nil {
		return fmt.Errorf("%s: %w", p.File, err)
	}
	var wrong []error
	body := remark.ReplaceAllString(b.String(), "")
	body = attribute.ReplaceAllStringFunc(body, func(found string) string {
		parts := attribute.FindStringSubmatch(found)
		kind, target := parts[1], parts[2]
		if external.MatchString(target) {
			return found
		}
		to, err := s.address(p, target, kind == "src")
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", p.File, p.line(target), err))
		}
		return fmt.Sprintf(`%s="%s"`, kind, to)
	})
	p.Body = template.HTML(body)
	return errors.Join(wrong...)
}

// line is the number of the first line that has a text.
func (p *page) line(text string) int {
	before, _, _ := bytes.Cut(p.markdown, []byte(text))
	return 1 + bytes.Count(before, []byte("\n"))
}

// address is the address of a link's target, on the site or in the repository.
func (s *site) address(p *page, target string, shown bool) (string, error) {
	name, fragment, _ := strings.Cut(target, "#")
	file := p.File
	if name != "" {
		file = path.Join(path.Dir(p.File), name)
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	to := s.byFile[file]
	if to == nil { // a folder
		to = s.byFile[path.Join(file, "README.md")]
	}
	if to != nil && !shown {
		if fragment != "" && !to.anchors[fragment[1:]] {
			return "", fmt.Errorf("links to %s, but %s has no such heading", target, file)
		}
		if to == p {
			return fragment, nil
		}
		return base + to.Path + fragment, nil
	}
	info, err := os.Stat(filepath.Join(s.root, file))
	static, isStatic := strings.CutPrefix(file, "site/static/")
	switch {
	case err != nil:
		return "", fmt.Errorf("links to %s, but there is no %s", target, file)
	case isStatic:
		return base + static, nil
	case shown:
		s.assets[file] = true
		return base + file, nil
	case path.Base(file) == "doc.go":
		return reference + path.Dir(file) + fragment, nil
	case info.IsDir():
		return repository + "/tree/main/" + file + fragment, nil
	}
	return repository + "/blob/main/" + file + fragment, nil
}
