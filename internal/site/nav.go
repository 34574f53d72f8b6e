package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
)

// navFile is the only list of the site's pages.
const navFile = "site/data/nav.yaml"

type nav struct {
	Home     string    `yaml:"home"`
	Sections []section `yaml:"sections"`
}

// A section is a heading of the navigation with the items below it.
type section struct {
	Title string  `yaml:"title"`
	Pages []*item `yaml:"pages"`
}

type item struct {
	Title string `yaml:"title"`
	File  string `yaml:"file"`
	Below string `yaml:"below"` // a pattern: the matching files are pages that this one links to, with their own titles

	Page *page `yaml:"-"`
}

func readNav(root string) (n nav, err error) {
	text, err := os.ReadFile(filepath.Join(root, navFile))
	if err != nil {
		return n, err
	}
	if err := yaml.UnmarshalWithOptions(text, &n, yaml.Strict()); err != nil {
		return n, fmt.Errorf("%s: %w", navFile, err)
	}
	return n, nil
}

func (s *site) addAll() error {
	if _, err := s.add(s.nav.Home); err != nil {
		return err
	}
	for _, section := range s.nav.Sections {
		for _, item := range section.Pages {
			if err := s.addItem(item); err != nil {
				return fmt.Errorf("%s: %q: %w", navFile, item.Title, err)
			}
		}
	}
	return nil
}

// addItem adds the page of a line, and the pages below it.
func (s *site) addItem(i *item) error {
	p, err := s.add(i.File)
	if err != nil {
		return err
	}
	p.Short = i.Title
	i.Page = p
	below, err := s.files(i.Below)
	if err != nil {
		return err
	}
	for _, file := range below {
		if file == i.File {
			continue
		}
		child, err := s.add(file)
		if err != nil {
			return err
		}
		child.Parent = p
	}
	return nil
}

// complete checks that every document is a page.
func (s *site) complete() error {
	var wrong []error
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		files, err := s.files(pattern)
		wrong = append(wrong, err)
		for _, file := range files {
			if s.byFile[file] == nil {
				wrong = append(wrong, fmt.Errorf("%s: is not in %s: add it to a section", file, navFile))
			}
		}
	}
	return errors.Join(wrong...)
}

func (s *site) files(pattern string) ([]string, error) {
	return fs.Glob(os.DirFS(s.root), pattern)
}
