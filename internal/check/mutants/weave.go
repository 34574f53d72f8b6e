package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// selector is the environment variable that selects the active mutant of a binary, and
// atWork the variable of each changed package that holds it.
const (
	selector = "MUTANT"
	atWork   = "mutantAtWork"
)

// A change is the change of one mutant.
type change struct {
	name string // name in the environment
	at   place
	text string // of the whole file, changed
}

// weave applies all changes to their packages, so that they need only one build: a changed
// function begins with the changed copies of its body, each in an `if` that only its mutant
// enters. It returns the changed files, by their names from the root, and the names of the
// changes in them, which are the changes inside functions.
func weave(changes []change) (files map[string]string, woven map[string]bool) {
	files, woven = map[string]string{}, map[string]bool{}
	copies := map[string]map[int]string{} // by file, and by the start of the body
	for _, c := range changes {
		before, after := bodyOf(c.at.text, c.at.from, c.at.to), span{}
		longer := len(c.text) - len(c.at.text)
		if before.ok() {
			after = bodyOf(c.text, c.at.from, c.at.to+longer)
		}
		if !after.ok() || after.from != before.from || after.to != before.to+longer || longer == 0 && c.text == c.at.text {
			continue
		}
		if copies[c.at.file] == nil {
			copies[c.at.file] = map[int]string{}
			files[c.at.file] = c.at.text
		}
		copies[c.at.file][before.from] += fmt.Sprintf("\nif %s == %q {%s\n%s\n}\n", atWork, c.name, c.text[after.from:after.to], before.end)
		woven[c.name] = true
	}
	for file, of := range copies {
		files[file] = insert(files[file], of)
		files[path.Join(path.Dir(file), "mutant_at_work.go")] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", packageOf(files[file]), atWork, selector)
	}
	return files, woven
}

// A span is the inside of the body of a function.
type span struct {
	from, to int
	end      string // end that a copy of the body needs
}

func (s span) ok() bool { return s.from > 0 }

// bodyOf finds the declared function that holds a part of the code. It returns none if a
// copy of its body would not compile, as with a label.
func bodyOf(text string, from, to int) (body span) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return span{}
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin, end := fset.Position(f.Body.Lbrace).Offset+1, fset.Position(f.Body.Rbrace).Offset
		if from < begin || to > end {
			continue
		}
		body = span{from: begin, to: end}
		if f.Type.Results == nil {
			body.end = "return"
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if _, ok := n.(*ast.LabeledStmt); ok {
				body = span{}
			}
			return true
		})
	}
	return body
}

// insert inserts texts at the positions of their keys.
func insert(text string, texts map[int]string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteString(texts[i])
		out.WriteByte(text[i])
	}
	return out.String()
}

func packageOf(text string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
	if err != nil {
		return "" // it does not compile, so each mutant is built separately
	}
	return file.Name.Name
}
