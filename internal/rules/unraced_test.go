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
var unraced = regexp.MustCompile(`(?s)unraced=\((.*?)\)\ngo test [^\n]*" (\.[^\n]*)\n`)

// skipped demands that the gate runs all tests, and every test that detects the race
// detector also without it, because its last step runs with the race detector.
func skipped(t *tree) (complaints []string) {
	script, _ := fs.ReadFile(t.fsys, gate)
	list := unraced.FindSubmatch(script)
	if list == nil || !strings.Contains(string(script), allTests) {
		return []string{gate + ": want " + allTests + " and a list of tests to run without the race detector"}
	}
	names := strings.Fields(strings.ReplaceAll(string(list[1]), "'", ""))
	packages := strings.Fields(string(list[2]))
	found := map[string]bool{}
	for _, file := range t.sources {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !file.test || !ok {
				continue
			}
			listed := false
			for _, name := range names {
				if matches, _ := regexp.MatchString("^("+name+")$", f.Name.Name); matches {
					found[name], listed = true, slices.ContainsFunc(packages, func(p string) bool { return path.Clean(p) == file.dir })
				}
			}
			if slices.ContainsFunc(detectors, func(name string) bool { return mentions(f, name) }) && !listed {
				complaints = append(complaints, fmt.Sprintf("%s: %s is less under the race detector: "+
					"name it and its package among the unraced tests of %s", t.at(f), f.Name.Name, gate))
			}
		}
	}
	for _, name := range names {
		if !found[name] {
			complaints = append(complaints, fmt.Sprintf("%s: no test matches %s, which it is to run without the race detector: take it out", gate, name))
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

func TestTestsThatTheRaceDetectorSkipsAreRun(t *testing.T) {
	holds(t, skipped)
	const asks, end = "{ if raceEnabled { t.Skip() } }", ")\ngo test -run \"$x\" . ./a\n"
	complains(t, skipped, []string{"a/a_test.go:3: TestB", "b/b_test.go:1: TestA", ".ci/run: no test matches TestGone"},
		".ci/run", "export WEIR_TESTS=all\nunraced=(\n\t'TestA.*' TestGone\n"+end,
		"a/a_test.go", "package a\nfunc TestA1(t *T) "+asks+"\nfunc TestB(t *T) "+asks+"\nfunc TestC(t *T) {}",
		"b/b_test.go", "package b; func TestA(t *T) "+asks)
	complains(t, skipped, []string{".ci/run: want export"}, ".ci/run", "unraced=(\n"+end)
	complains(t, skipped, []string{".ci/run: want export"}, ".ci/run", "export WEIR_TESTS=all\ngo test work\n")
}
