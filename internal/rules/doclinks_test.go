package rules

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"testing"
)

// asLink matches text that was meant as a link to a name, but shows its brackets because the
// name does not exist.
var asLink = regexp.MustCompile(`\B\[\*?([a-z]\w*\.)?[A-Z]\w*(\.[A-Z]\w*)?\]`)

// linked demands that doc comments link to names that exist.
func linked(t *tree) (complaints []string) {
	byDir := map[string][]string{}
	for _, file := range t.sources {
		if !file.test {
			byDir[file.dir] = append(byDir[file.dir], file.path)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		docs, err := docsOf(t.fsys, dir, byDir[dir])
		if err != nil {
			return append(complaints, fmt.Sprintf("%s: %v", dir, err))
		}
		for _, text := range docs {
			for _, link := range asLink.FindAllString(text, -1) {
				complaints = append(complaints, fmt.Sprintf("%s: a doc comment links to %s, which is no exported name: "+
					"link to one, or leave out the brackets", dir, link))
			}
		}
	}
	return complaints
}

// docsOf returns the text of the exported doc comments of a package, without their code and
// their valid links. It parses the files again, because package doc modifies its input.
func docsOf(fsys fs.FS, dir string, files []string) (texts []string, err error) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	p, err := doc.NewFromFiles(fset, parsed, path.Join(modulePath, dir))
	if err != nil {
		return nil, err
	}
	for _, text := range exportedDocs(p) {
		for _, block := range p.Parser().Parse(text).Content {
			texts = append(texts, unlinked(block))
		}
	}
	return texts, nil
}

func exportedDocs(p *doc.Package) []string {
	docs := []string{p.Doc}
	values := func(list []*doc.Value) {
		for _, v := range list {
			docs = append(docs, v.Doc)
		}
	}
	funcs := func(list []*doc.Func) {
		for _, f := range list {
			docs = append(docs, f.Doc)
		}
	}
	values(slices.Concat(p.Consts, p.Vars))
	funcs(p.Funcs)
	for _, t := range p.Types {
		docs = append(docs, t.Doc)
		values(slices.Concat(t.Consts, t.Vars))
		funcs(slices.Concat(t.Funcs, t.Methods))
	}
	return docs
}

// unlinked returns the prose of a block, without its links.
func unlinked(block comment.Block) (text string) {
	switch b := block.(type) {
	case *comment.Paragraph:
		for _, part := range b.Text {
			switch part := part.(type) {
			case comment.Plain:
				text += string(part)
			case comment.Italic:
				text += string(part)
			}
		}
	case *comment.List:
		for _, item := range b.Items {
			for _, inner := range item.Content {
				text += unlinked(inner)
			}
		}
	}
	return text
}

func TestDocLinksLeadToNames(t *testing.T) {
	holds(t, linked)
	complains(t, linked, []string{"law: a doc comment links to [Gone]", "law: a doc comment links to [Law.Gone]"},
		"law/law.go", "// Package law has a [Law] and a [Gone].\npackage law\n\n// A Law has [Law.Next] and [Law.Gone].\n"+
			"//\n//\t[Code] is none\ntype Law struct{}\n\n// Next is next.\nfunc (Law) Next() {}\n")
}
