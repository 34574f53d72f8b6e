package rules

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/internal/documents"
)

// testFlags are the flags of go test that documents use, and whether a value follows.
var testFlags = map[string]bool{
	"run": true, "bench": true, "fuzz": true, "fuzztime": true, "skip": true, "count": true, "cpu": true, "benchtime": true, "timeout": true,
	"v": false, "race": false, "short": false, "benchmem": false, "failfast": false,
}

// goTest checks a go test command: its packages have tests, its patterns match some of them, and
// its flags are known.
func (t *tree) goTest(c documents.Command) (wrong []string) {
	dirs, patterns, unknown := t.testArguments(c)
	for _, dir := range dirs {
		if dir != "" && !strings.HasSuffix(dir, "...") && len(t.testsIn(dir)) == 0 {
			return []string{"there is no test in " + dir}
		}
		if dir != "" && !t.reaches(c, dir) {
			return []string{dir + " is not in go.work: want " + documents.WithAll + " before it"}
		}
	}
	for _, flag := range []string{"run", "bench"} {
		for pattern := range strings.SplitSeq(patterns[flag], "|") {
			if pattern != "" && pattern != "^$" {
				wrong = append(wrong, t.matched(c, flag, pattern, dirs)...)
			}
		}
	}
	for _, flag := range unknown {
		wrong = append(wrong, fmt.Sprintf("-%s is no flag of go test or of the tests in %s", flag, strings.Join(dirs, " ")))
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

// testArguments splits the arguments of go test: the packages ("" is the whole workspace),
// the patterns by flag, and the flags unknown to both go test and these packages.
func (t *tree) testArguments(c documents.Command) (dirs []string, patterns map[string]string, unknown []string) {
	patterns = map[string]string{}
	var own []string // flags unknown to go test
	words := c.Words[2:]
	for i := 0; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "-")
		name, value, given := strings.Cut(name, "=")
		takes, known := testFlags[name]
		switch {
		case !isFlag && words[i] == "work":
			dirs = append(dirs, "")
		case !isFlag && strings.HasPrefix(words[i], "."):
			dirs = append(dirs, path.Join(c.Dir, words[i]))
		case !isFlag: // a value
		case !known:
			own = append(own, name)
		case takes && !given && i+1 < len(words):
			i++
			value = words[i]
			fallthrough
		default:
			patterns[name] = value
		}
	}
	if len(dirs) == 0 {
		dirs = []string{c.Dir}
	}
	for _, name := range own {
		if !slices.ContainsFunc(dirs, func(dir string) bool { return slices.Contains(t.flagsIn(dir), name) }) {
			unknown = append(unknown, name)
		}
	}
	return dirs, patterns, unknown
}

// matched compares one alternative of a pattern with the functions of the packages.
func (t *tree) matched(c documents.Command, flag, pattern string, dirs []string) []string {
	first, _, _ := strings.Cut(pattern, "/")
	name, err := regexp.Compile(first)
	if err != nil {
		return []string{err.Error()}
	}
	what, prefixes := "test", []string{"Test", "Example", "Fuzz"}
	if flag == "bench" {
		what, prefixes = "benchmark", []string{"Benchmark"}
	}
	found := false
	for _, dir := range dirs {
		for _, f := range t.testsIn(dir) {
			if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f.Name.Name, p) }) || !name.MatchString(f.Name.Name) {
				continue
			}
			found = true
			if mentions(f, "longtest") && !c.All {
				return []string{f.Name.Name + " is skipped without " + documents.WithAll}
			}
		}
	}
	if !found {
		return []string{fmt.Sprintf("no %s in %s matches %s", what, strings.Join(dirs, " "), pattern)}
	}
	return nil
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

// flagsIn returns the flags that the tests of a directory define.
func (t *tree) flagsIn(dir string) (names []string) {
	for _, file := range t.sources {
		if !file.test || file.dir != dir && dir != "" {
			continue
		}
		ast.Inspect(file.File, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 {
				return true
			}
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := selector.X.(*ast.Ident); ok && x.Name == "flag" {
					names = append(names, literals(call.Args[0])...)
				}
			}
			return true
		})
	}
	return names
}

// mutantNames returns the names of the mutants.
func (t *tree) mutantNames() (names []string) {
	for _, file := range t.sources {
		if file.dir != "internal/check/mutants" || file.test {
			continue
		}
		ast.Inspect(file.File, func(node ast.Node) bool {
			if mutant, ok := node.(*ast.CompositeLit); ok && mutant.Type == nil && len(mutant.Elts) > 0 {
				names = append(names, literals(mutant.Elts[0])...)
			}
			return true
		})
	}
	return names
}

// literals returns the texts of a node.
func literals(node ast.Node) (texts []string) {
	ast.Inspect(node, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}
