package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
)

// module writes a module into a new folder, where the test goes on: names and contents of files.
func module(t *testing.T, files ...string) {
	t.Helper()
	root := t.TempDir()
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
	t.Chdir(root)
}

func TestVerdicts(t *testing.T) {
	longtest.Skip(t)
	patience = 2 * time.Second // for the one that hangs
	module(t,
		"max/max.go", "package max\n\nconst Least = 1\n\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
		"max/add.go", "package max\n\nvar sum int\n\nfunc Add(n int) {\n\tsum += n\n}\n",
		"max/a_test.go", "package max\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n"+
			"func TestMax(t *testing.T) {\n\tt.Run(\"left\", func(t *testing.T) {\n\t\tif Max(2, 1) != 2 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n\n"+
			"func TestAdd(t *testing.T) {\n\tif Add(Least); sum != 1 {\n\t\tt.Fail()\n\t}\n}\n\n"+
			"func TestHangs(t *testing.T) {\n\tif Max(2, 1) != 2 {\n\t\tselect {}\n\t}\n}\n\n"+
			"func TestLate(t *testing.T) {\n\tif _, err := os.Stat(\"late\"); Max(2, 1) != 2 {\n\t\tif os.WriteFile(\"late\", nil, 0o600); err == nil {\n\t\t\tt.Fail()\n\t\t}\n\t}\n}\n\n"+
			"func TestNothing(t *testing.T) {}\n\nfunc TestRed(t *testing.T) { t.Fail() }\n\nfunc TestSkipped(t *testing.T) { t.Skip() }\n",
		"other/other.go", "package other\n\nfunc next(n int) int {\n\treturn n + 1\n}\n",
		"other/a_test.go", "package other\n\nimport (\n\t\"fixture/max\"\n\t\"testing\"\n\t\"time\"\n)\n\n"+
			"func TestMain(m *testing.M) {\n\tif m.Run(); next(2) == 4 {\n\t\t<-time.After(time.Hour)\n\t}\n}\n\n"+
			"func TestMax(t *testing.T) {\n\tif max.Max(2, 1) != 2 {\n\t\tt.Fail()\n\t}\n}\n\n"+
			"func TestNext(t *testing.T) {\n\tif next(1) != 2 {\n\t\tt.Fail()\n\t}\n}\n",
		"red/red.go", "package red\n\nfunc red() bool {\n\treturn true\n}\n",
		"red/a_test.go", "package red\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(1)\n}\n\nfunc TestRed(t *testing.T) { _ = red() }\n")
	const file, greater, less = "max/max.go", "a > b", "a < b"
	tests := []struct {
		mutant
		verdict string // or a part of it
	}{
		{mutant{"a failure", file, greater, less, "TestMax", ""}, "killed"},
		{mutant{"a failure of a subtest", file, greater, less, "TestMax/left", ""}, "killed"},
		{mutant{"a failure elsewhere", file, greater, less, "TestMax", "other"}, "killed"},
		{mutant{"a panic", file, greater, "a/(b-1) > b", "TestMax", ""}, "killed"},
		{mutant{"a failure of another package", "other/other.go", "n + 1", "n - 1", "TestNext", ""}, "killed"},
		{mutant{"a hang after the tests", "other/other.go", "return n + 1", "return n + n", "TestNext", ""}, "killed"},
		{mutant{"a function without a result", "max/add.go", "sum += n", "sum = -n", "TestAdd", ""}, "killed"},
		{mutant{"a late failure", file, greater, less, "TestLate", ""}, "killed"},
		{mutant{"a hang", file, greater, less, "TestHangs", ""}, "killed"},
		{mutant{"no failure", file, greater, less, "TestNothing", ""}, "survived"},
		{mutant{"no such test", file, greater, less, "TestGone", ""}, "does not pass on the real code"},
		{mutant{"a skipped test", file, greater, less, "TestSkipped", ""}, "or is skipped"},
		{mutant{"a binary that is red anyway", "red/red.go", "true", "false", "TestRed", ""}, "does not pass on the real code"},
		{mutant{"a test that is red anyway", file, greater, less, "TestRed", ""}, "does not pass on the real code"},
	}
	var list []mutant
	for _, test := range tests {
		list = append(list, test.mutant)
	}
	var said strings.Builder
	err := judge(&said, list)
	const summary = "mutants: 9 killed; 6 at the second try or not at all, 5 not killed\n"
	if err == nil || !strings.HasSuffix(said.String(), summary) {
		t.Errorf("got %v, %s, want %s", err, said.String(), summary)
	}
	for _, test := range tests {
		if !slices.ContainsFunc(strings.Split(said.String(), "\n"), func(line string) bool {
			return strings.Contains(line, " "+test.name+" (") && strings.Contains(line, test.verdict)
		}) {
			t.Errorf("%s: want %q in\n%s", test.name, test.verdict, said.String())
		}
	}
}

// TestATestThatNeedsAnother passes only after that, which is by chance in one run of two. Alone it
// is red anyway.
func TestATestThatNeedsAnother(t *testing.T) {
	longtest.Skip(t)
	module(t, "max/max.go", "package max\n\nfunc Max(a, b int) int {\n\treturn a\n}\n",
		"max/a_test.go", "package max\n\nimport \"testing\"\n\nvar ran bool\n\nfunc TestFirst(t *testing.T) { ran = Max(1, 0) > 0 }\n\n"+
			"func TestSecond(t *testing.T) {\n\tif !ran {\n\t\tt.Fail()\n\t}\n}\n")
	list := []mutant{{"one", "max/max.go", "return a", "return b", "TestFirst", ""}, {"two", "max/max.go", "return a", "return -a", "TestSecond", ""}}
	for range 30 {
		alive, err := try(io.Discard, list, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(alive) == 2 {
			return
		}
	}
	t.Error("a test that fails without another one kills mutants in each of 30 runs")
}

func TestFaultsOfTheList(t *testing.T) {
	module(t, "max/max.go", "package max\n\nconst Least = 1\n\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
		"max/a_test.go", "package max\n")
	for _, test := range []struct{ file, old, new, want string }{
		{"max/max.go", "a >= b", "a < b", "occurs 0 times"},
		{"max/gone.go", "a > b", "a < b", "max/gone.go: no such file"},
		{"max/max.go", "return", "panic", "occurs 2 times"},
		{"max/max.go", "Least = 1", "Least = 2", "occurs 0 times"},
		{"max/max.go", "func Max", "func Most", "occurs 0 times"},
		{"max/max.go", "a > b", "a >", "a fault:2:"},
	} {
		list := []mutant{{"a fault", test.file, test.old, test.new, "TestMax", ""}, {"no fault", "max/max.go", "return b", "return a", "TestMax", ""}}
		if err := judge(io.Discard, list); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q to %q: %v, want %q", test.old, test.new, err, test.want)
		}
	}
}

// TestOnlyAFailureKills: a binary that cannot be started, as when memory is short, is no failure of
// the test.
func TestOnlyAFailureKills(t *testing.T) {
	module(t, "max/max.go", "package max\n\nfunc Max(a, b int) int {\n\treturn a\n}\n",
		"max/a_test.go", "package max\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) { _ = Max(1, 0) }\n")
	tmp := t.TempDir()
	m := mutant{"one", "max/max.go", "return a", "return b", "TestMax", ""}
	if err := build(tmp, []mutant{m}, 1); err != nil {
		t.Fatal(err)
	}
	if err := m.kill(tmp); err == nil || !strings.Contains(err.Error(), "survived") {
		t.Errorf("%v, want that the test survived", err)
	}
	folder, err := filepath.Abs("max")
	if err == nil {
		err = os.WriteFile(filepath.Join(tmp, folder, "tests"), nil, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := m.kill(tmp); err == nil || !strings.Contains(err.Error(), "did not run to its end") {
		t.Errorf("%v, want that the test did not run", err)
	}
}

func TestChosen(t *testing.T) {
	all := chosen(nil)
	named := chosen([]string{all[0].name, "no such name"})
	ofFile := chosen([]string{filepath.Base(all[1].file)})
	if len(all) != len(mutants) || len(named) != 1 || !slices.Contains(ofFile, all[1]) || len(ofFile) == len(all) {
		t.Errorf("%d of all, %d by name, %d by file", len(all), len(named), len(ofFile))
	}
	if none := chosen([]string{"no such name"}); len(none) > 0 {
		t.Errorf("%v have a name that no mutant has", none)
	}
}

// Code moves and is reworded. A mutant that no longer finds its place would show only when it is
// run, which takes minutes.
func TestEveryMutantFindsItsPlace(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		if names[m.name] {
			t.Errorf("two mutants have the name %q, which activates them", m.name)
		}
		names[m.name] = true
	}
	t.Chdir("../../..")
	if _, err := weave(mutants); err != nil {
		t.Error(err)
	}
}
