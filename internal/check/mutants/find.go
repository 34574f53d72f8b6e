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

// A place is where a mutant changes the code.
type place struct {
	file     string // from the root
	text     string // of the whole file
	from, to int
}

// dir returns the folder of the mutant's package.
func (m mutant) dir() string {
	if path.Ext(m.file) == ".go" {
		return path.Dir(m.file)
	}
	return m.file
}

// find looks for the old code in the package of the mutant. It compares tokens, so blanks, lines
// and comments do not count, nor does the file in the package. If the code occurs in several files,
// m.file has to name one.
func (m mutant) find(root string) (place, error) {
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m.dir()), "*.go"))
	if err != nil {
		return place{}, err
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
		for _, p := range match(string(text), m.old) {
			p.file = path.Join(m.dir(), filepath.Base(name))
			found = append(found, p)
		}
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(p place) bool { return p.file != m.file })
	}
	if len(found) != 1 {
		return place{}, fmt.Errorf("its old code occurs %d times in %s, want once: adapt it to the code", len(found), m.file)
	}
	return found[0], nil
}

// changed returns a part of the file, from and to included, with the new code in place of the old.
func (p place) changed(from, to int, replacement string) string {
	return p.text[from:p.from] + replacement + p.text[p.to:to]
}

// match lists the places where the code has the tokens of the pattern.
func match(code, pattern string) (all []place) {
	have, want := tokens(code), tokens(pattern)
	same := func(a, b piece) bool { return a.text == b.text }
	for i := 0; len(want) > 0 && i+len(want) <= len(have); i++ {
		if slices.EqualFunc(have[i:i+len(want)], want, same) {
			all = append(all, place{text: code, from: have[i].from, to: have[i+len(want)-1].to})
		}
	}
	return all
}

// A piece is one token of Go.
type piece struct {
	text     string
	from, to int
}

// tokens takes code apart, and leaves out comments and the semicolons that lines end with.
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
		all = append(all, piece{text, from, from + len(text)})
	}
}
