package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
)

// module writes a module into a new folder: names and contents of files.
func module(t *testing.T, files ...string) (root string) {
	t.Helper()
	root = t.TempDir()
	t.Setenv("GOWORK", "off")
	for pair := range slices.Chunk(append(files, "go.mod", "module fixture\n\ngo 1.26\n"), 2) {
		file := filepath.Join(root, pair[0])
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(pair[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestVerdicts(t *testing.T) {
	longtest.Skip(t)
	root := module(t,
		"max/max.go", "package max\n\nconst Least = 1\n\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n\n"+
			"var sum int\n\nfunc Add(n int) {\n\tsum += n\n}\n",
		"max/a_test.go", "package max\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\n"+
			"func TestMax(t *testing.T) {\n\tt.Run(\"left\", func(t *testing.T) {\n\t\tif Max(2, 1) != 2 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n\n"+
			"func TestAdd(t *testing.T) {\n\tif Add(Least); sum != 1 {\n\t\tt.Fail()\n\t}\n}\n\n"+
			"func TestSlow(t *testing.T) {\n\tif Max(2, 1) != 2 {\n\t\ttime.Sleep(4 * time.Second)\n\t}\n}\n\n"+
			"func TestHangs(t *testing.T) {\n\tif Max(2, 1) != 2 {\n\t\tselect {}\n\t}\n}\n\n"+
			"func TestLate(t *testing.T) {\n\tif _, err := os.Stat(\"late\"); Max(2, 1) != 2 {\n\t\tif os.WriteFile(\"late\", nil, 0o600); err == nil {\n\t\t\tt.Fail()\n\t\t}\n\t}\n}\n\n"+
			"func TestNothing(t *testing.T) {}\n\nfunc TestRed(t *testing.T) { t.Fail() }\n\nfunc TestSkipped(t *testing.T) { t.Skip() }\n",
		"other/a_test.go", "package other\n\nimport (\n\t\"fixture/max\"\n\t\"testing\"\n)\n\nfunc TestMax(t *testing.T) {\n\tif max.Max(2, 1) != 2 {\n\t\tt.Fail()\n\t}\n}\n")
	base := mutant{file: "max/max.go", old: "a > b", new: "a < b", test: "TestMax"}
	var list []mutant
	want := map[string]string{} // the verdict by name, or a part of it
	add := func(name, verdict string, change func(*mutant)) {
		m := base
		m.name = name
		change(&m)
		list, want[name] = append(list, m), verdict
	}
	add("killed", "killed", func(*mutant) {})
	add("killed by a subtest", "killed", func(m *mutant) { m.test = "TestMax/left" })
	add("test elsewhere", "killed", func(m *mutant) { m.in = "./other" })
	add("panics", "killed", func(m *mutant) { m.new = "a/(b-1) > b" })
	add("without a result", "killed", func(m *mutant) { m.old, m.new, m.test = "sum += n", "sum = -n", "TestAdd" })
	add("outside of functions", "killed", func(m *mutant) { m.old, m.new, m.test = "Least = 1", "Least = 2", "TestAdd" })
	add("late", "killed", func(m *mutant) { m.test = "TestLate" })
	add("hangs", "killed", func(m *mutant) { m.test, m.hangs = "TestHangs", "it waits" })
	add("is slow", "survived", func(m *mutant) { m.test, m.hangs = "TestSlow", "it waits" })
	add("survives", "survived", func(m *mutant) { m.test = "TestNothing" })
	add("no such test", "there is no TestGone", func(m *mutant) { m.test = "TestGone" })
	add("skipped test", "or it was skipped", func(m *mutant) { m.test = "TestSkipped" })
	add("red anyway", "fails on the real code as well", func(m *mutant) { m.test = "TestRed" })
	add("stale", "occurs 0 times", func(m *mutant) { m.old = "a >= b" })
	add("ambiguous", "occurs 2 times", func(m *mutant) { m.old = "return" })
	add("no such file", "occurs 0 times", func(m *mutant) { m.file = "max/gone.go" })
	add("changes nothing", "changes nothing", func(m *mutant) { m.new = m.old })

	check := func(summary string) {
		t.Helper()
		var said strings.Builder
		err := judge(&said, root, list)
		if !strings.HasSuffix(said.String(), "mutants: "+summary+"\n") || err == nil {
			t.Errorf("got %v, %s, want %s", err, said.String(), summary)
		}
		for _, m := range list {
			if !slices.ContainsFunc(strings.Split(said.String(), "\n"), func(line string) bool {
				return strings.Contains(line, " "+m.name+" (") && strings.Contains(line, want[m.name])
			}) {
				t.Errorf("%s: want %q in\n%s", m.name, want[m.name], said.String())
			}
		}
	}
	check("8 killed; 10 at the second try or not at all, 9 not killed")

	// One that does not compile takes nothing from the others.
	list = list[:1]
	add("does not compile", "does not compile", func(m *mutant) { m.new = "a >" })
	check("1 killed; 1 at the second try or not at all, 1 not killed")
}

// TestOnlyAFailureKills: a binary that cannot be started, as when memory is short, is no failure of
// the test.
func TestOnlyAFailureKills(t *testing.T) {
	gone := binary{root: t.TempDir(), pkg: ".", file: filepath.Join(t.TempDir(), "gone")}
	if err := gone.kills("TestX", "0", time.Second); err == nil || !strings.Contains(err.Error(), "did not run to its end") {
		t.Errorf("%v, want that the test did not run", err)
	}
}

func TestChosen(t *testing.T) {
	all := chosen(nil)
	named := chosen([]string{all[0].name, "no such name"})
	ofFile := chosen([]string{all[1].file})
	if len(all) != len(mutants) || len(named) != 1 || !slices.Contains(ofFile, all[1]) || len(ofFile) == len(all) {
		t.Errorf("%d of all, %d by name, %d by file", len(all), len(named), len(ofFile))
	}
}

// Code moves and is reworded. A mutant that no longer finds its place would show only when it is
// run, which takes minutes.
func TestEveryMutantFindsItsPlace(t *testing.T) {
	for _, m := range mutants {
		if _, err := m.find("../../.."); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// TestWeave: that a mutant got a binary of its own would not show in its verdict.
func TestWeave(t *testing.T) {
	const text = "package p\n\nfunc f() int {\n\treturn 1\n}\n\nfunc g(n int) {\nloop:\n\tfor {\n\t\tbreak loop\n\t}\n}\n"
	root := module(t, "p/a.go", text)
	var list []mutant
	for _, change := range [][2]string{{"return 1", "return 2"}, {"1", "3"}, {"for", "for range n"}, {"func f", "func h"}, {"gone", ""}} {
		list = append(list, mutant{file: "p/a.go", old: change[0], new: change[1]})
	}
	files, woven := weave(root, list)
	if want := map[int]bool{0: true, 1: true}; !maps.Equal(woven, want) {
		t.Errorf("woven are %v, want %v: no label and no name", woven, want)
	}
	if len(files) != 2 || !strings.Contains(files["p/mutant_at_work.go"], "package p\n") {
		t.Errorf("files %q", files)
	}
	for i, want := range []string{"\n\treturn 2\n", "\n\treturn 3\n"} {
		if want = "if mutantAtWork == " + strconv.Quote(strconv.Itoa(i)) + " {" + want; !strings.Contains(files["p/a.go"], want) {
			t.Errorf("no %q in\n%s", want, files["p/a.go"])
		}
	}
}
