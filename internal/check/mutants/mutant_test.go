package main

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
)

// The fixture is a module with one function, one test that covers it, and one that does not.
func TestVerdicts(t *testing.T) {
	longtest.Skip(t)
	root := t.TempDir()
	t.Setenv("GOWORK", "off")
	for name, text := range map[string]string{
		"go.mod": "module fixture\n\ngo 1.26\n",
		"max/max.go": "package max\n\nconst Least = 1\n\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n\n" +
			"var sum int\n\nfunc Add(n int) {\n\tsum += n\n}\n",
		"max/a_test.go": "package max\n\nimport \"testing\"\n\n" +
			"func TestMax(t *testing.T) {\n\tt.Run(\"left\", func(t *testing.T) {\n\t\tif Max(2, 1) != 2 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n\n" +
			"func TestAdd(t *testing.T) {\n\tif Add(Least); sum != 1 {\n\t\tt.Fail()\n\t}\n}\n\n" +
			"func TestNothing(t *testing.T) {}\n\nfunc TestRed(t *testing.T) { t.Fail() }\n\nfunc TestSkipped(t *testing.T) { t.Skip() }\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := mutant{name: "wrong way round", file: "max/max.go", old: "a > b", new: "a < b", test: "TestMax"}
	with := func(change func(*mutant)) mutant {
		m := base
		change(&m)
		return m
	}
	cases := map[string]struct {
		mutant
		want string // part of the complaint; empty: killed
	}{
		"killed":              {base, ""},
		"killed by a subtest": {with(func(m *mutant) { m.test = "TestMax/left" }), ""},
		"test elsewhere":      {with(func(m *mutant) { m.in = "./..." }), ""},
		"hangs or panics":     {with(func(m *mutant) { m.new = "a/(b-1) > b" }), ""},
		"survives":            {with(func(m *mutant) { m.test = "TestNothing" }), "survived"},
		"no such test":        {with(func(m *mutant) { m.test = "TestGone" }), "there is no TestGone"},
		"skipped test":        {with(func(m *mutant) { m.test = "TestSkipped" }), "or it was skipped"},
		"red anyway":          {with(func(m *mutant) { m.test = "TestRed" }), "fails on the real code as well"},
		"stale":               {with(func(m *mutant) { m.old = "a >= b" }), "stands 0 times"},
		"ambiguous":           {with(func(m *mutant) { m.old = "return" }), "stands 2 times"},
		"changes nothing":     {with(func(m *mutant) { m.new = m.old }), "changes nothing"},
		"does not compile":    {with(func(m *mutant) { m.new = "a >" }), "does not compile"},
		"without a result":    {with(func(m *mutant) { m.old, m.new, m.test = "sum += n", "sum = -n", "TestAdd" }), ""},
		"outside of code": {with(func(m *mutant) {
			m.old, m.new, m.test = "Least = 1", "Least = 2", "TestAdd"
		}), ""},
		"elsewhere since": {with(func(m *mutant) { m.file = "max/gone.go" }), ""},
		"by package":      {with(func(m *mutant) { m.file = "max" }), ""},
		"other blanks": {with(func(m *mutant) {
			m.old = "if a>b{\n\nreturn a}"
			m.new = "if a < b { return a }"
		}), ""},
		"any names":         {with(func(m *mutant) { m.old, m.new = "$x > $y", "$x < $y" }), ""},
		"names that differ": {with(func(m *mutant) { m.old, m.new = "$x > $x", "$x < $x" }), "stands 0 times"},
		"no code":           {with(func(m *mutant) { m.old = " // a > b" }), "is empty"},
		"no such package":   {with(func(m *mutant) { m.file = "gone/max.go" }), "directory not found"},
	}
	check := func(t *testing.T, err error, want string) {
		t.Helper()
		switch {
		case want == "" && err != nil:
			t.Errorf("want it killed, got: %v", err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("got %v, want a complaint with %q", err, want)
		}
	}
	var list []mutant
	var wants []string
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { check(t, c.judgeAlone(root), c.want) })
		if name != "does not compile" { // which a test below has together with another
			list, wants = append(list, c.mutant), append(wants, c.want)
		}
	}
	t.Run("together", func(t *testing.T) {
		for _, b := range batches(list) {
			b.judge(root, func(i int, err error) { check(t, err, wants[i]) })
		}
	})
	t.Run("beside one that does not compile", func(t *testing.T) {
		wants := []string{"", cases["does not compile"].want}
		batches([]mutant{base, cases["does not compile"].mutant})[0].judge(root, func(i int, err error) {
			check(t, err, wants[i])
		})
	})
	if err := judge(root, []mutant{base, base}); err != nil {
		t.Errorf("judge: %v", err)
	}
	survivor := with(func(m *mutant) { m.test = "TestNothing" })
	if err := judge(root, []mutant{base, survivor}); err == nil || err.Error() != "1 of 2 mutants were not killed" {
		t.Errorf("judge: got %v, want a complaint about one mutant", err)
	}
}

// TestOnlyAFailureKills checks that a binary that cannot be started, as when memory is
// short, is not a failure of the test.
func TestOnlyAFailureKills(t *testing.T) {
	gone := testBinary{root: t.TempDir(), pkg: ".", file: filepath.Join(t.TempDir(), "gone")}
	if err := gone.kills(mutant{test: "TestX"}, "0", time.Second); err == nil ||
		!strings.Contains(err.Error(), "did not run to its end") {
		t.Errorf("%v, want that the test did not run", err)
	}
}

// TestAHangIsNoFailure checks that a hanging test is distinguished from a failing one.
func TestAHangIsNoFailure(t *testing.T) {
	root := t.TempDir()
	t.Setenv("GOWORK", "off")
	for name, text := range map[string]string{
		"go.mod":    "module fixture\n\ngo 1.26\n",
		"a_test.go": "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {\n\tswitch os.Getenv(\"" + selector + "\") {\n\tcase \"hangs\":\n\t\tselect {}\n\tcase \"fails\":\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := testBinary{root: root, pkg: ".", file: filepath.Join(root, "test")}
	if _, err := b.build(root, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"hangs": errHung, "fails": nil, "neither": errSurvived} {
		timeout := time.Minute
		if name == "hangs" {
			timeout = 100 * time.Millisecond
		}
		if err := b.kills(mutant{test: "TestA"}, name, timeout); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// TestTell checks that a mutant that survived or hung is tried again before it fails, and
// that a hang is counted separately.
func TestTell(t *testing.T) {
	other := errors.New("does not compile")
	type tries struct {
		hangs         string
		first, second error
	}
	for _, c := range []struct {
		tries []tries
		want  string
		err   bool
	}{
		{[]tries{{}, {}}, "2 killed, 0 of them at the second try; 0 timed out as expected; 0 not killed", false},
		{
			[]tries{{first: errSurvived}, {first: errHung}},
			"2 killed, 2 of them at the second try; 0 timed out as expected; 0 not killed", false,
		},
		{
			[]tries{{first: errSurvived, second: errSurvived}},
			"0 killed, 0 of them at the second try; 0 timed out as expected; 1 not killed", true,
		},
		{
			[]tries{{first: errHung, second: errHung}},
			"0 killed, 0 of them at the second try; 0 timed out as expected; 1 not killed", true,
		},
		{
			[]tries{{hangs: "it waits", first: errHung, second: other}},
			"0 killed, 0 of them at the second try; 1 timed out as expected; 0 not killed", false,
		},
		{
			[]tries{{hangs: "it waits", first: errSurvived, second: errHung}},
			"0 killed, 0 of them at the second try; 1 timed out as expected; 0 not killed", false,
		},
		{[]tries{{hangs: "it waits"}}, "1 killed, 0 of them at the second try; 0 timed out as expected; 0 not killed", false},
		{[]tries{{first: other}}, "0 killed, 0 of them at the second try; 0 timed out as expected; 1 not killed", true},
	} {
		var list []mutant
		for i, try := range c.tries {
			list = append(list, mutant{name: strconv.Itoa(i), hangs: try.hangs})
		}
		var said strings.Builder
		err := tell(&said, list, func(i int) error { return c.tries[i].first }, func(m mutant) error {
			i, _ := strconv.Atoi(m.name)
			return c.tries[i].second
		})
		if !strings.Contains(said.String(), "mutants: "+c.want+"\n") || (err != nil) != c.err {
			t.Errorf("%+v: got %v and\n%s\nwant %s", c.tries, err, said.String(), c.want)
		}
	}
}

func TestOnlyThoseOfFilesThatDiffer(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{
			"-C", root, "-c", "user.name=a", "-c", "user.email=a@example.com",
		}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "package p\n\nconst a = 1\n")
	write("b.go", "package p\n\nconst b = 2\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	write("b.go", "package p\n\nconst b = 3\n")
	write("c.go", "package p\n\nconst c = 4\n")
	files, err := differing(root, "HEAD")
	if want := []string{"b.go", "c.go"}; err != nil || !slices.Equal(files, want) {
		t.Fatalf("%q, %v, want %q", files, err, want)
	}
	for old, want := range map[string]bool{"a = 1": false, "b = 3": true, "c = 4": true, "gone": true} {
		if got := (mutant{file: ".", old: old}).isAmong(root, files); got != want {
			t.Errorf("%s: %v, want %v", old, got, want)
		}
	}
	if _, err := differing(root, "gone"); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a revision that does not exist: %v", err)
	}
}

// Code moves and changes. A mutant that no longer finds its place would otherwise show only
// when it runs, which takes minutes.
func TestEveryMutantFindsItsPlace(t *testing.T) {
	for _, m := range mutants {
		if _, err := m.find("../../.."); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// TestWeave checks that mutants are woven: their verdicts do not show whether they were
// judged alone.
func TestWeave(t *testing.T) {
	const text = "package p\n\nfunc f() int {\n\treturn 1\n}\n\nfunc g(n int) {\nloop:\n\tfor {\n\t\tbreak loop\n\t}\n}\n"
	changed := func(name, from, to string) change {
		at := match(text, tokens(from))[0]
		at.file = "p/a.go"
		return change{name, at, at.changed(to)}
	}
	files, woven := weave([]change{
		changed("a", "return 1", "return 2"), changed("b", "1", "3"),
		changed("with a label", "for", "for range n"), changed("the name", "f", "h"),
		changed("nothing", "1", "1"), changed("no Go", "1", "}"),
	})
	if want := map[string]bool{"a": true, "b": true}; !maps.Equal(woven, want) {
		t.Errorf("woven are %v, want %v", woven, want)
	}
	if len(files) != 2 || !strings.Contains(files["p/mutant_at_work.go"], "package p\n") {
		t.Errorf("files %q", files)
	}
	for _, want := range []string{
		"if mutantAtWork == \"a\" {\n\treturn 2\n", "if mutantAtWork == \"b\" {\n\treturn 3\n",
		"}\n\n\treturn 1\n",
	} {
		if !strings.Contains(files["p/a.go"], want) {
			t.Errorf("no %q in\n%s", want, files["p/a.go"])
		}
	}
}
