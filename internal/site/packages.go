package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// modulePath is the import path of the root package.
const modulePath = "github.com/weir-go/weir"

// A goPackage is a package that users import.
type goPackage struct {
	*doc.Package
	fset *token.FileSet
}

// private are the folders without packages for users.
var private = []string{"bench", "cmd", "examples", "internal", "testdata", "tools"}

// readPackages reads all packages that users import, of all modules.
func readPackages(root string) (packages []*goPackage, err error) {
	err = filepath.WalkDir(root, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if base := filepath.Base(dir); dir != root && (slices.Contains(private, base) || strings.ContainsAny(base[:1], "._")) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		p, err := readPackage(dir, path.Join(modulePath, filepath.ToSlash(rel)))
		if p != nil {
			packages = append(packages, p)
		}
		return err
	})
	return packages, err
}

// readPackage reads the package in a folder, or returns nil if there is none.
func readPackage(dir, importPath string) (*goPackage, error) {
	found, err := build.Default.ImportDir(dir, 0)
	if _, none := err.(*build.NoGoError); none { //nolint:errorlint // ImportDir returns it unwrapped
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	p := &goPackage{fset: token.NewFileSet()}
	var files []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.TestGoFiles, found.XTestGoFiles) {
		file, err := parser.ParseFile(p.fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	p.Package, err = doc.NewFromFiles(p.fset, files, importPath)
	return p, err
}

// relative is the path of a package below the root, and "" for the root.
func (p *goPackage) relative() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
}

func (p *goPackage) title() string {
	if rel := p.relative(); rel != "" {
		return rel
	}
	return p.Name
}

// packagePages adds the list of packages, and a page for each.
func packagePages(s *site) (index *page, pages []*page, err error) {
	packages, err := readPackages(s.root)
	if err != nil {
		return nil, nil, err
	}
	index = &page{Path: "packages/", Title: "Packages", Short: "Packages"}
	var list []name
	for _, p := range packages {
		list = append(list, name{ID: p.title(), First: p.Synopsis(p.Doc)})
	}
	index.make = func() (markup, error) {
		return s.execute("packages", map[string]any{"Base": s.base, "Packages": list})
	}
	s.add(index)
	for _, p := range packages {
		file := path.Join(p.relative(), "doc.go")
		made := &page{Path: "packages/" + p.title() + "/", Title: "Package " + p.title(), Short: p.title(), file: file, anchors: map[string]bool{}}
		for _, name := range p.names() {
			made.anchors[name.ID] = true
		}
		made.make = func() (markup, error) { return s.packageBody(p, made) }
		s.add(made)
		pages = append(pages, made)
	}
	return index, pages, nil
}

func (s *site) packageBody(p *goPackage, made *page) (markup, error) {
	opening, err := s.comment(p, p.Doc, 2)
	if err != nil {
		return "", err
	}
	examples, err := p.examples()
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.ImportPath, err)
	}
	declarations, err := s.declarations(p)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.ImportPath, err)
	}
	guides := s.guides(p)
	if len(guides) > 0 {
		made.Headings = append(made.Headings, heading{2, "guides", "Guides"})
	}
	if len(examples) > 0 {
		made.Headings = append(made.Headings, heading{2, "examples", "Examples"})
	}
	made.Headings = append(made.Headings, heading{2, "index", "Index"}, heading{2, "documentation", "Documentation"})
	return s.execute("package", map[string]any{
		"Base": s.base, "Import": p.ImportPath, "Title": made.Title, "Opening": opening, "Guides": guides, "Examples": examples,
		"Names": p.names(), "Declarations": declarations,
	})
}
