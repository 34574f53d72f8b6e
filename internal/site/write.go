package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

type view struct {
	*page
	Base, Repository string
	Sections         []section
	Previous, Next   *page
}

func (s *site) write(out string) error {
	if err := os.CopyFS(out, os.DirFS(filepath.Join(s.root, "site/static"))); err != nil {
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
		if err := s.writePage(filepath.Join(out, p.Path, "index.html"), v); err != nil {
			return err
		}
	}
	// The hosts of static sites show it for a missing address.
	if err := s.writePage(filepath.Join(out, "404.html"), s.view(s.missing)); err != nil {
		return err
	}
	for asset := range s.assets {
		if err := copyFile(filepath.Join(out, asset), filepath.Join(s.root, asset)); err != nil {
			return err
		}
	}
	index, err := json.Marshal(s.searched())
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(out, "search.json"), index); err != nil {
		return err
	}
	return s.writePlayground(filepath.Join(out, "playground"))
}

func (s *site) view(p *page) view {
	return view{page: p, Base: base, Repository: repository, Sections: s.nav.Sections}
}

func (s *site) writePage(file string, v view) error {
	var b bytes.Buffer
	if err := s.layout.Execute(&b, v); err != nil {
		return err
	}
	return writeFile(file, b.Bytes())
}

// A part of a page is the text below a heading: site/static/site.js searches them.
type part struct {
	Page    string `json:"p"` // path below the base
	Title   string `json:"t"` // of the page
	Anchor  string `json:"a"`
	Heading string `json:"h"`
	Text    string `json:"x"`
}

func (s *site) searched() (all []part) {
	for _, p := range s.pages {
		for _, part := range p.parts {
			part.Page, part.Title = p.Path, p.Title
			if part.Heading == "" {
				part.Heading = p.Title
			}
			part.Text = strings.Join(strings.Fields(part.Text), " ")
			all = append(all, part)
		}
	}
	return all
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
