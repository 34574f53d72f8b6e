package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// navFile is the only list of the site's pages that are files.
const navFile = "site/data/nav.yaml"

type nav struct {
	Home     string    `yaml:"home"`
	Sections []section `yaml:"sections"`
}

// A section is a heading of the navigation with the items below it.
type section struct {
	Title string `yaml:"title"`
	Pages []item `yaml:"pages"`
}

// An item is a line of the navigation: a file, or pages that the build makes.
type item struct {
	Title string `yaml:"title"`
	File  string `yaml:"file"`
	Below string `yaml:"below"` // a pattern: the matching files are pages that this one links to, with their own titles
	Made  string `yaml:"made"`  // "playground"

	page     *page
	children []*page
}

// readNav reads the navigation and checks that it is complete: every file of docs is in it,
// and every file in it exists.
func readNav(root string) (nav, error) {
	var n nav
	text, err := os.ReadFile(filepath.Join(root, navFile))
	if err != nil {
		return n, err
	}
	if err := yaml.UnmarshalWithOptions(text, &n, yaml.Strict()); err != nil {
		return n, fmt.Errorf("%s: %w", navFile, err)
	}
	named := []string{n.Home}
	var wrong []error
	for _, section := range n.Sections {
		for _, item := range section.Pages {
			if err := item.check(); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", navFile, err))
				continue
			}
			named = append(named, item.File)
			below, err := item.filesBelow(root)
			if err != nil {
				return n, err
			}
			named = append(named, below...)
		}
	}
	for i, file := range named {
		if file == "" {
			continue
		}
		if slices.Contains(named[:i], file) {
			wrong = append(wrong, fmt.Errorf("%s: names %s twice: leave one", navFile, file))
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: names %s, but there is no such file: write it, or take it out", navFile, file))
		}
	}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		files, err := glob(root, pattern)
		if err != nil {
			return n, err
		}
		for _, file := range files {
			if !slices.Contains(named, file) {
				wrong = append(wrong, fmt.Errorf("%s: is not in %s: add it to a section", file, navFile))
			}
		}
	}
	return n, errors.Join(wrong...)
}

// check checks that a line has exactly one kind of target.
func (i item) check() error {
	switch {
	case i.Title == "":
		return fmt.Errorf("a line with file %q and made %q has no title: add one", i.File, i.Made)
	case i.File == "" && i.Below != "":
		return fmt.Errorf("%q: has files below (%s) and no file that leads to them: add it", i.Title, i.Below)
	case i.File != "" && i.Made != "":
		return fmt.Errorf("%q: names the file %s and is made (%s): leave one", i.Title, i.File, i.Made)
	case i.File == "" && i.Made != "playground":
		return fmt.Errorf("%q: names no file and nothing that is made: want playground", i.Title)
	}
	return nil
}

// filesBelow lists the files that match the pattern of an item, without its own.
func (i item) filesBelow(root string) ([]string, error) {
	if i.Below == "" {
		return nil, nil
	}
	files, err := glob(root, i.Below)
	files = slices.DeleteFunc(files, func(file string) bool { return file == i.File })
	if err == nil && len(files) == 0 {
		err = errors.New("there is no such file")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %q: below is %s: %w", navFile, i.Title, i.Below, err)
	}
	return files, nil
}

func glob(root, pattern string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, pattern))
	for i, file := range files {
		if files[i], err = filepath.Rel(root, file); err != nil {
			return nil, err
		}
		files[i] = filepath.ToSlash(files[i])
	}
	return files, err
}

// address is the path of a file's page: docs/http.md is /http/.
func address(file string) string {
	file = strings.TrimSuffix(strings.TrimPrefix(file, "docs/"), ".md")
	if path.Base(file) == "README" {
		file = path.Dir(file)
	}
	return strings.ToLower(file) + "/"
}
