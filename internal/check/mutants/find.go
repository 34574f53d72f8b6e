package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A place is a location in the code that a mutant changes.
type place struct {
	file     string // from the root
	text     string // of the whole file
	from, to int
	names    map[string]string // identifiers for the names with a $
}

// find looks for the old code in the package of the mutant. It compares tokens, so neither
// blanks, lines and comments count, nor the file of the package. If the code occurs several
// times, m.file has to name the file, and it must occur there only once.
func (m mutant) find(root string) (place, error) {
	dir := m.file
	if path.Ext(dir) == ".go" {
		dir = path.Dir(dir)
	}
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return place{}, err
	}
	pattern := tokens(strings.ReplaceAll(m.old, "$", wild))
	if len(pattern) == 0 {
		return place{}, fmt.Errorf("its old code is empty")
	}
	var found []place
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return place{}, err
		}
		for _, p := range match(string(text), pattern) {
			p.file = path.Join(dir, filepath.Base(name))
			found = append(found, p)
		}
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(p place) bool { return p.file != m.file })
	}
	if len(found) != 1 {
		return place{}, fmt.Errorf("its old code stands %d times in %s, want once: adapt it to the code", len(found), m.file)
	}
	return found[0], nil
}

// changed returns the file with the new code in place of the old.
func (p place) changed(replacement string) string {
	for name, text := range p.names {
		replacement = strings.ReplaceAll(replacement, "$"+strings.TrimPrefix(name, wild), text)
	}
	return p.text[:p.from] + replacement + p.text[p.to:]
}

// wild is the prefix of names that match any identifier: $x in a mutant.
const wild = "anyIdentifier_"

// A piece is one token of Go.
type piece struct {
	tok      token.Token
	text     string
	from, to int
}

// tokens splits code into tokens, without comments and the semicolons that end lines.
func tokens(code string) (all []piece) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), nil, 0)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return all
		}
		if tok == token.SEMICOLON && text != ";" {
			continue
		}
		if text == "" {
			text = tok.String()
		}
		from := file.Offset(pos)
		all = append(all, piece{tok, text, from, from + len(text)})
	}
}

// match returns the places in the code that match the pattern.
func match(code string, pattern []piece) (all []place) {
	pieces := tokens(code)
	for i := 0; i+len(pattern) <= len(pieces); i++ {
		if names, ok := fits(pieces[i:], pattern); ok {
			all = append(all, place{text: code, from: pieces[i].from, to: pieces[i+len(pattern)-1].to, names: names})
		}
	}
	return all
}

// fits reports whether the pieces begin with the pattern. A wild name matches the same
// identifier wherever it occurs.
func fits(pieces, pattern []piece) (names map[string]string, ok bool) {
	names = map[string]string{}
	for i, want := range pattern {
		have := pieces[i]
		switch {
		case have.tok != want.tok:
			return nil, false
		case strings.HasPrefix(want.text, wild):
			if known, bound := names[want.text]; bound && known != have.text {
				return nil, false
			}
			names[want.text] = have.text
		case have.text != want.text:
			return nil, false
		}
	}
	return names, true
}
