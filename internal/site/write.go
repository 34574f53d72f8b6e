package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A view is the data of a page for the layout.
type view struct {
	*page
	Base, Source   string
	File           string // in the repository, if it has one
	Sections       []viewSection
	Parent         *page // of a page without a line in the navigation
	Previous, Next *page
}

type viewSection struct {
	Title string
	Lines []line
}

// A line of the navigation. Current is "page" on the page itself, and "true" for the parent
// of the page.
type line struct {
	*page
	Current string
}

// write writes the site into a folder, which it empties first.
func (s *site) write(out string) error {
	if err := empty(out); err != nil {
		return err
	}
	for i, p := range s.pages {
		v := s.view(p)
		if i > 0 {
			v.Previous = s.pages[i-1]
		}
		if i < len(s.pages)-1 {
			v.Next = s.pages[i+1]
		}
		if err := s.writePage(filepath.Join(out, filepath.FromSlash(p.Path), "index.html"), v); err != nil {
			return err
		}
	}
	body, err := s.execute("missing", view{Base: s.base})
	if err != nil {
		return err
	}
	if err := s.writePage(filepath.Join(out, missingFile), s.view(&page{Title: "Page not found", Body: body})); err != nil {
		return err
	}
	for asset := range s.assets {
		if err := copyFile(filepath.Join(out, asset), filepath.Join(s.root, asset)); err != nil {
			return err
		}
	}
	for _, name := range []string{"style.css", "site.js"} {
		if err := copyFile(filepath.Join(out, name), filepath.Join(s.root, "site", name)); err != nil {
			return err
		}
	}
	index, err := s.searchIndex()
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(out, "search.json"), index); err != nil {
		return err
	}
	if s.playground {
		return s.writePlayground(filepath.Join(out, "playground"))
	}
	return nil
}

// empty removes the folder of an earlier build. It fails for any other non-empty folder.
func empty(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, missingFile)); err != nil && len(entries) > 0 {
		return fmt.Errorf("-out is %s: it has files and is no site: want an empty folder, or one that this command made", out)
	}
	return os.RemoveAll(out)
}

// missingFile is the page that hosts of static sites show for a missing address.
const missingFile = "404.html"

func (s *site) view(p *page) view {
	v := view{page: p, Base: s.base, File: p.file}
	if p.file != "" {
		v.Source = repository + "/blob/main/" + p.file
	}
	for _, section := range s.nav.Sections {
		shown := viewSection{Title: section.Title}
		for _, item := range section.Pages {
			l := line{page: item.page}
			if item.page == p {
				l.Current = "page"
			} else if slices.Contains(item.children, p) {
				l.Current, v.Parent = "true", item.page
			}
			shown.Lines = append(shown.Lines, l)
		}
		v.Sections = append(v.Sections, shown)
	}
	return v
}

func (s *site) writePage(file string, v view) error {
	text, err := s.execute("page", v)
	if err != nil {
		return err
	}
	return writeFile(file, []byte(text))
}

func (s *site) execute(layout string, data any) (markup, error) {
	var b bytes.Buffer
	if err := s.layouts.ExecuteTemplate(&b, layout+".html", data); err != nil {
		return "", fmt.Errorf("site/layouts: %w", err)
	}
	return markup(b.String()), nil
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, text)
}

func writeFile(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
