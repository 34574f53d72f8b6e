package main

import (
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
)

// A site holds all pages, ready to be written.
type site struct {
	root, base string
	nav        nav
	layouts    *template.Template
	pages      []*page // in the order of the navigation; the home page is the first
	byFile     map[string]*page
	assets     map[string]bool // pictures that pages show
	playground bool            // has the page of the simulator
}

// load reads the pages of files, makes the other pages, and resolves the links.
func load(root, base string) (*site, error) {
	if !rooted.MatchString(base) {
		return nil, fmt.Errorf("-base is %q: want a path with a slash at both ends, such as / or /weir/", base)
	}
	s := &site{root: root, base: base, byFile: map[string]*page{}, assets: map[string]bool{}}
	var err error
	if s.nav, err = readNav(root); err != nil {
		return nil, err
	}
	if s.layouts, err = template.ParseGlob(filepath.Join(root, "site/layouts/*.html")); err != nil {
		return nil, err
	}
	home, err := s.read(s.nav.Home)
	if err != nil {
		return nil, err
	}
	home.Path = ""
	for i, section := range s.nav.Sections {
		for j := range section.Pages {
			if err := s.fill(&s.nav.Sections[i].Pages[j]); err != nil {
				return nil, err
			}
		}
	}
	wrong := []error{s.distinct()}
	for _, p := range s.pages {
		if p.tree != nil {
			wrong = append(wrong, s.resolve(p))
		}
		var err error
		p.Body, err = p.make()
		wrong = append(wrong, err)
	}
	return s, errors.Join(wrong...)
}

// rooted matches a base that, put before the path of a page, gives a path on the same host.
var rooted = regexp.MustCompile(`^/([^/?#\s]+/)*$`)

// distinct checks that all pages have different addresses, because otherwise one page would
// overwrite another.
func (s *site) distinct() error {
	var wrong []error
	at := map[string]*page{}
	for _, p := range s.pages {
		if other := at[p.Path]; other != nil {
			wrong = append(wrong, fmt.Errorf("%q and %q both become %s%s: rename one", other.Title, p.Title, s.base, p.Path))
		}
		at[p.Path] = p
	}
	return errors.Join(wrong...)
}

func (s *site) read(file string) (*page, error) {
	text, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return nil, err
	}
	p, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	p.Path = address(file)
	p.Short = p.Title
	s.add(p)
	return p, nil
}

func (s *site) add(p *page) {
	s.pages = append(s.pages, p)
	if p.file != "" {
		s.byFile[p.file] = p
	}
}

// fill adds the pages of a line of the navigation.
func (s *site) fill(i *item) (err error) {
	switch {
	case i.File != "":
		if i.page, err = s.read(i.File); err != nil {
			return err
		}
		i.page.Short = i.Title
		below, err := i.filesBelow(s.root)
		if err != nil {
			return err
		}
		for _, file := range below {
			child, err := s.read(file)
			if err != nil {
				return err
			}
			i.children = append(i.children, child)
		}
	case i.Made == "playground":
		i.page = playgroundPage(s)
	}
	return err
}
