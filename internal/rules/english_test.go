package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// odd matches phrases that the standard library and the Go blog do not use: a comment is
// subject, verb and object, in the words of the field.
var odd = regexp.MustCompile(`(?i)\b(whom|lest|nobody|manieth|whose[\s/]+turn|of[\s/]+no[\s/]+matter|who[\s/]+is[\s/]+next)\b`)

func plainEnglish(t *tree) (complaints []string) {
	complain := func(name string, line int, text string) {
		for _, at := range odd.FindAllStringIndex(text, -1) {
			complaints = append(complaints, fmt.Sprintf("%s:%d: %q: name who does what, in the field's words (waiter, request, caller)",
				name, line+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]]))
		}
	}
	for _, name := range t.paths {
		if path.Ext(name) == ".md" {
			text, _ := fs.ReadFile(t.fsys, name)
			complain(name, 1, string(text))
		}
	}
	for _, file := range t.sources {
		for _, group := range file.Comments {
			complain(file.path, t.fset.Position(group.Pos()).Line, written(group))
		}
		if file.dir == "internal/rules" { // the examples of a rule
			continue
		}
		for node := range ast.Preorder(file.File) {
			if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
				complain(file.path, t.fset.Position(text.Pos()).Line, text.Value)
			}
		}
	}
	return complaints
}

// written returns the comment as in the file, without its indentation.
func written(group *ast.CommentGroup) string {
	var lines []string
	for _, comment := range group.List {
		lines = append(lines, comment.Text)
	}
	return strings.Join(lines, "\n")
}

func TestEnglishIsPlain(t *testing.T) {
	holds(t, plainEnglish)
	complains(t, plainEnglish,
		[]string{`a.md:2: "Nobody"`, `a.md:3: "of no\nmatter"`, `law/a.go:3: "whose\n// turn"`, `law/a.go:5: "whom"`, `law/a.go:6: "nobody"`, `pool/a.go:1: "nobody"`},
		"a.md", "Everybody.\nNobody waits,\nit is of no\nmatter, unlestered.\n", "a.txt", "nobody\n",
		"law/a.go", "package law\n\n// F serves the waiter whose\n// turn it is,\n// and whom\nfunc F() { _ = \"nobody\" }",
		"pool/a.go", "package pool // nobody")
}
