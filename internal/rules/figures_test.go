package rules

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/documents"
)

// figuresScript has its commands between these lines.
const figuresScript, firstFigure, lastFigure = "scripts/figures", "cat <<'END'", "END"

// repeatedFigures demands that scripts/figures runs exactly the commands that a document
// gives to its readers: the document has the figures.
func repeatedFigures(t *tree) (complaints []string) {
	documented := map[string]bool{}
	for _, c := range t.commands() {
		documented[unplaced(c)] = true
	}
	text, _ := fs.ReadFile(t.fsys, figuresScript)
	all := strings.Split(string(text), "\n")
	first := 1 + slices.IndexFunc(all, func(line string) bool { return strings.TrimSpace(line) == firstFigure })
	for i, line := range all[first:] {
		if line == lastFigure {
			break
		}
		at := fmt.Sprintf("%s:%d", figuresScript, first+i+1)
		commands, _ := documents.Commands(at, ".", line)
		for _, c := range commands {
			if !documented[unplaced(c)] {
				complaints = append(complaints, c.String()+": no document has this: write it as the document does that has its figures")
			}
		}
	}
	return complaints
}

// unplaced returns a command and its folder, without its location.
func unplaced(c documents.Command) string {
	c.At = ""
	return fmt.Sprint(c.All, c.Dir, c)
}

func TestFiguresAreThoseOfDocuments(t *testing.T) {
	holds(t, repeatedFigures)
	complains(t, repeatedFigures,
		[]string{"scripts/figures:4: `go test -run Gone ./a`"},
		"scripts/figures", "set -e\n\tcat <<'END'\ngo test -run 'X' ./a\ngo test -run Gone ./a\ngo run ./b\ncd bench/peers; go test\nEND\ngo test -run Other\n",
		"a/README.md", "Run `go test -run X ./a`.", "b/main.go", "// B does it.\n//\n//\tgo run ./b\npackage main",
		"bench/peers/README.md", "```sh\ncd bench/peers\ngo test\n```\n")
}
