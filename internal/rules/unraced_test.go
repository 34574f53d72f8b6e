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
)

// detectors are the names by which a test detects the race detector: internal/race, or a constant
// of its package.
var detectors = []string{"race", "raceEnabled"}

// gate is the script that has to run the tests that the race detector skips.
const gate = ".ci/run"

// allTests is the line of the gate that enables long tests: internal/longtest.
const allTests = "export WEIR_TESTS=all"

// unraced matches the patterns and the packages of those tests in the gate.
var unraced = regexp.MustCompile(`(?s)unraced=\((.*?)\)\ntests [^\n]*" (\.[^\n]*)\n`)

// skipped demands that the gate runs all tests, and every test that detects the race
// detector also without it, because the README's test command uses the race detector.
func skipped(t *tree) (complaints []string) {
	script, err := fs.ReadFile(t.fsys, gate)
	if err != nil {
		return []string{err.Error()}
	}
	list := unraced.FindSubmatch(script)
	if list == nil {
		return []string{gate + ": lists no tests to run without the race detector"}
	}
	if !strings.Contains(string(script), allTests) {
		complaints = append(complaints, gate+": skips the tests that take long: want "+allTests)
	}
	names := strings.NewReplacer("'", "").Replace(strings.Join(strings.Fields(string(list[1])), "|"))
	tests, err := regexp.Compile("^(" + names + ")$")
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", gate, err)}
	}
	packages := strings.Fields(string(list[2]))
	for name := range strings.SplitSeq(names, "|") {
		pattern := regexp.MustCompile("^(" + name + ")$")
		if !slices.ContainsFunc(t.testsIn(""), func(f *ast.FuncDecl) bool { return pattern.MatchString(f.Name.Name) }) {
			complaints = append(complaints, fmt.Sprintf("%s: no test matches %s, which it is to run without the race detector: take it out", gate, name))
		}
	}
	for _, file := range t.sources {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !file.test || !ok || !slices.ContainsFunc(detectors, func(name string) bool { return mentions(f, name) }) {
				continue
			}
			if !tests.MatchString(f.Name.Name) || !slices.ContainsFunc(packages, func(p string) bool { return path.Clean(p) == file.dir }) {
				complaints = append(complaints, fmt.Sprintf("%s: %s is less under the race detector: "+
					"name it and its package among the unraced tests of %s", t.at(f), f.Name.Name, gate))
			}
		}
	}
	return complaints
}

func mentions(node ast.Node, name string) (found bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

func TestWhatTheRaceDetectorSkipsIsRun(t *testing.T) {
	holds(t, skipped)
	asks := "{ if raceEnabled { t.Skip() } }"
	complains(t, skipped, []string{".ci/run: skips the tests that take long"},
		".ci/run", "unraced=(\n\t'TestA.*'\n)\ntests -run \"$x\" . ./a\n", "a/a_test.go", "package a\nfunc TestA(t *T) {}")
	complains(t, skipped, []string{".ci/run: no test matches TestGone"},
		".ci/run", "export WEIR_TESTS=all\nunraced=(\n\tTestA TestGone\n)\ntests -run \"$x\" . ./a\n", "a/a_test.go", "package a\nfunc TestA(t *T) {}")
	complains(t, skipped, []string{"a/a_test.go:3: TestB", "b/b_test.go:1: TestA"},
		".ci/run", "export WEIR_TESTS=all\nunraced=(\n\t'TestA.*'\n)\ntests -run \"$x\" . ./a\n",
		"a/a_test.go", "package a\nfunc TestA1(t *T) "+asks+"\nfunc TestB(t *T) "+asks+"\nfunc TestC(t *T) {}",
		"b/b_test.go", "package b; func TestA(t *T) "+asks)
	complains(t, skipped, []string{".ci/run: lists no tests"}, ".ci/run", "go test work\n")
}
