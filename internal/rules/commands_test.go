package rules

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/documents"
)

// commands returns the commands of scripts/figures, of the documents, in blocks and spans of code,
// and of the comments, in indented lines and between backquotes.
func (t *tree) commands() (all []documents.Command) {
	for _, name := range t.paths {
		if path.Ext(name) != ".md" {
			continue
		}
		text, _ := fs.ReadFile(t.fsys, name)
		for _, line := range documents.Lines(name, string(text), base(name)) {
			found, _ := documents.Commands(line.At, line.Dir, line.Text)
			all = append(all, found...)
		}
	}
	figures, _ := fs.ReadFile(t.fsys, "scripts/figures")
	_, list, _ := strings.Cut(string(figures), "cat <<'END'\n")
	list, _, _ = strings.Cut(list, "\nEND\n")
	for line := range strings.Lines(list) {
		found, _ := documents.Commands("scripts/figures", ".", strings.TrimSpace(line))
		all = append(all, found...)
	}
	for _, file := range t.sources {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				for _, code := range documents.Spoken(strings.TrimPrefix(comment.Text, "//"), "\t") {
					found, _ := documents.Commands(t.at(comment), base(file.path), code)
					all = append(all, found...)
				}
			}
		}
	}
	return all
}

// base returns the folder in which the commands of a file run: the root, or the folder of a
// module outside the workspace.
func base(name string) string {
	for _, module := range outside {
		if strings.HasPrefix(name, module+"/") {
			return module
		}
	}
	return "."
}

// span is code in a line of prose.
var span = regexp.MustCompile("`[^`]+`")

var placeholder = regexp.MustCompile(`^[A-Z]+(\.\.\.)?$|^\.\.\.$`)

// documentedCommands demands that every command about the repository names something that
// exists: a test, a package, a flag, a script, a mutant.
func documentedCommands(t *tree) (complaints []string) {
	for _, c := range t.commands() {
		var wrong []string
		switch {
		case len(c.Words) > 2 && c.Words[0] == "go" && c.Words[1] == "test":
			wrong = t.goTest(c)
		case len(c.Words) > 2 && c.Words[0] == "go" && (c.Words[1] == "run" || c.Words[1] == "install"):
			wrong = t.goRun(c)
		case strings.HasPrefix(c.Words[0], "scripts/"), c.Words[0] == ".ci/run":
			wrong = t.script(c)
		}
		for _, what := range wrong {
			complaints = append(complaints, fmt.Sprintf("%s: %s: correct the command", c, what))
		}
	}
	return complaints
}

// goRun checks that the program exists, and for the mutants that the words are in some names.
func (t *tree) goRun(c documents.Command) (wrong []string) {
	dir, _, _ := strings.Cut(c.Words[2], "@")
	dir, ours := strings.CutPrefix(dir, modulePath+"/")
	if !ours && !strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "...") {
		return nil
	}
	if !ours {
		dir = path.Join(c.Dir, dir)
	}
	if !slices.ContainsFunc(t.sources, func(s source) bool { return s.dir == dir && s.Name.Name == "main" }) {
		return []string{"there is no program in " + dir}
	}
	if !ours && !t.reaches(c, dir) {
		return []string{dir + " is not in go.work: want " + documents.WithAll + " before it"}
	}
	if dir == "internal/check/mutants" && len(c.Words) == 4 && !placeholder.MatchString(c.Words[3]) {
		if list, _ := fs.ReadFile(t.fsys, dir+"/list.go"); !strings.Contains(string(list), c.Words[3]) {
			wrong = append(wrong, "no mutant is named like "+c.Words[3])
		}
	}
	return wrong
}

// script checks that the file exists, and that it knows the flags.
func (t *tree) script(c documents.Command) (wrong []string) {
	text, err := fs.ReadFile(t.fsys, path.Join(c.Dir, c.Words[0]))
	if err != nil {
		return []string{"there is no " + c.Words[0]}
	}
	for _, word := range c.Words[1:] {
		if strings.HasPrefix(word, "--") && !strings.Contains(string(text), word) {
			wrong = append(wrong, "it knows no "+word)
		}
	}
	return wrong
}

// testFlags are the flags of go test that documents use.
var testFlags = strings.Fields("run bench fuzz fuzztime skip count cpu benchtime timeout v race short benchmem failfast")

// goTest checks that the packages have tests, that the patterns match some of them, and that the
// flags are known.
func (t *tree) goTest(c documents.Command) (wrong []string) {
	var dirs []string // "" is the whole workspace
	for _, word := range c.Words[2:] {
		switch {
		case word == "work":
			dirs = append(dirs, "")
		case strings.HasPrefix(word, "."):
			dirs = append(dirs, path.Join(c.Dir, word))
		}
	}
	if len(dirs) == 0 {
		dirs = []string{c.Dir}
	}
	var tests []*ast.FuncDecl
	for _, dir := range dirs {
		here := t.testsIn(dir)
		tests = append(tests, here...)
		if dir != "" && !strings.HasSuffix(dir, "...") && len(here) == 0 {
			return []string{"there is no test in " + dir}
		}
		if dir != "" && !t.reaches(c, dir) {
			return []string{dir + " is not in go.work: want " + documents.WithAll + " before it"}
		}
	}
	for i, word := range c.Words[2:] {
		name, isFlag := strings.CutPrefix(word, "-")
		name, _, _ = strings.Cut(name, "=")
		value := append(c.Words, "")[i+3]
		switch {
		case !isFlag:
		case name == "run" && value != "^$":
			wrong = append(wrong, matched(c, "test", value, regexp.MustCompile("^(Test|Example|Fuzz)"), tests)...)
		case name == "bench":
			wrong = append(wrong, matched(c, "benchmark", value, regexp.MustCompile("^Benchmark"), tests)...)
		case !slices.Contains(testFlags, name) && !slices.ContainsFunc(dirs, func(dir string) bool { return t.hasFlag(dir, name) }):
			wrong = append(wrong, fmt.Sprintf("-%s is no flag of go test or of the tests in %s", name, strings.Join(dirs, " ")))
		}
	}
	return wrong
}

// reaches reports whether the package is in a module that the command covers.
func (t *tree) reaches(c documents.Command, dir string) bool {
	module := dir
	for module != "." && !slices.Contains(t.paths, path.Join(module, "go.mod")) {
		module = path.Dir(module)
	}
	return c.All || slices.Contains(outside, module) || slices.Contains(append(t.workspace("go.work"), "."), module)
}

// matched demands that each alternative of a pattern matches a test of the kind.
func matched(c documents.Command, what, pattern string, kind *regexp.Regexp, tests []*ast.FuncDecl) (wrong []string) {
	for alternative := range strings.SplitSeq(pattern, "|") {
		first, _, _ := strings.Cut(alternative, "/")
		name, err := regexp.Compile(first)
		if err != nil {
			return []string{err.Error()}
		}
		found := 0
		for _, f := range tests {
			if kind.MatchString(f.Name.Name) && name.MatchString(f.Name.Name) {
				found++
				if mentions(f, "longtest") && !c.All {
					wrong = append(wrong, f.Name.Name+" is skipped without "+documents.WithAll)
				}
			}
		}
		if found == 0 {
			wrong = append(wrong, fmt.Sprintf("no %s matches %s", what, alternative))
		}
	}
	return wrong
}

// testsIn returns the functions of the test files of a directory, or of all for "".
func (t *tree) testsIn(dir string) (all []*ast.FuncDecl) {
	for _, file := range t.sources {
		if !file.test || file.dir != dir && dir != "" {
			continue
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				all = append(all, f)
			}
		}
	}
	return all
}

func mentions(node ast.Node, name string) bool {
	for n := range ast.Preorder(node) {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			return true
		}
	}
	return false
}

// hasFlag reports whether the tests of a directory define the flag.
func (t *tree) hasFlag(dir, name string) bool {
	definition := regexp.MustCompile(`\bflag\.\w+\((&\w+, )?"` + regexp.QuoteMeta(name) + `"`)
	return slices.ContainsFunc(t.sources, func(file source) bool {
		text, _ := fs.ReadFile(t.fsys, file.path)
		return file.test && file.dir == dir && definition.Match(text)
	})
}

func TestDocumentedCommandsMatchSomething(t *testing.T) {
	holds(t, documentedCommands)
	complains(t, documentedCommands,
		[]string{
			"CONTRIBUTING.md:1: `go test ./sim -run Gone`: no test matches Gone",
			"CONTRIBUTING.md:2: `go test ./gone`: there is no test in gone",
			"CONTRIBUTING.md:5: `go test -run X -bench Gone -seeds 3 ./sim`: no benchmark matches Gone",
			"CONTRIBUTING.md:5: `go test -run X -bench Gone -seeds 3 ./sim`: -seeds is no flag of go test or of the tests in sim",
			"CONTRIBUTING.md:8: `go run ./internal/check/mutants timeout`: no mutant is named like timeout",
			"CONTRIBUTING.md:9: `go run ./gone`: there is no program in gone",
			"CONTRIBUTING.md:10: `go install github.com/weir-go/weir/cmd/gone@latest`: there is no program in cmd/gone",
			"CONTRIBUTING.md:11: `scripts/gone`: there is no scripts/gone",
			"CONTRIBUTING.md:11: `.ci/run --gone`: it knows no --gone",
			"CONTRIBUTING.md:12: `go test ./sim -run X|Gone|Long`: no test matches Gone",
			"CONTRIBUTING.md:12: `go test ./sim -run X|Gone|Long`: TestLong is skipped without scripts/all",
			"CONTRIBUTING.md:13: `go run ./cmd/heavy`: cmd/heavy is not in go.work: want scripts/all before it",
			"CONTRIBUTING.md:13: `go test ./cmd/heavy`: cmd/heavy is not in go.work",
			"bench/peers/README.md:2: `go test -run Gone`: no test matches Gone",
			"scripts/figures: `go test -run Gone ./sim`: no test matches Gone",
			"sim/a.go:5: `go test -run Gone ./sim`: no test matches Gone",
		},
		"CONTRIBUTING.md", "Run `go test ./sim -run Gone`, and `go test ./sim -run 'X|Example' -v -keys 3 -real`.\n"+
			"    go test ./gone   # nothing\n```sh\ncd sim; go test -run X/a\ncd .; go test -run X -bench Gone -seeds 3 ./sim\ngo test ./sim\n```\n"+
			"`go run ./internal/check/mutants timeout`, `go run ./internal/check/mutants NAME...`, `go run ./internal/check/mutants slow`\n"+
			"`go run ./gone`\n`go install github.com/weir-go/weir/cmd/gone@latest`, `go install .../cmd/weir@latest`\n"+
			"`scripts/gone`, `.ci/run --gone`, `.ci/run --fix && go vet gone`\n"+
			"`go test ./sim -run 'X|Gone|Long'`, `scripts/all go test ./sim -run Long`, `go test work`, `go test ./sim -run '^$' -bench Y -cpu 1,2`\n"+
			"`go run ./cmd/heavy`, `go test ./cmd/heavy`, `scripts/all go run ./cmd/heavy -x`, `scripts/all go test ./cmd/heavy`, `go install github.com/weir-go/weir/cmd/heavy@latest`\n",
		"go.work", "use (\n\t.\n)\n", "cmd/heavy/go.mod", "module heavy\n", "scripts/all", "",
		"cmd/heavy/a.go", "package main", "cmd/heavy/a_test.go", "package main\nfunc TestHeavy(t *T) {}",
		"bench/peers/README.md", "```sh\ngo test -run Gone\ngo test -run Peer\n```\n",
		"bench/peers/a_test.go", "package peers\nfunc TestPeer(t *T) {}",
		".ci/run", "--fix",
		"scripts/figures", "set -e\n\tcat <<'END'\ngo test -run Gone ./sim\ncd bench/peers; go test -run Peer\nEND\ngo test -run Other\n",
		"internal/check/mutants/list.go", "package main\nvar m = []mutant{{\"work is slow\"}}",
		"internal/check/mutants/main.go", "package main\n",
		"sim/a.go", "package sim\n// Says so:\n//\n//\tgo test -run X ./sim    well\n//\tgo test -run Gone ./sim\n// and `go test -run X ./sim`.\n",
		"sim/a_test.go", "package sim\nimport \"flag\"\nvar a, b = flag.Int(\"keys\", 0, \"\"), flag.Bool(\"real\", false, \"\")\n"+
			"func TestX(t *T) {}\nfunc ExampleX() {}\nfunc BenchmarkY(b *B) {}\nfunc TestLong(t *T) { longtest.Skip(t) }")
}
