package documents

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

// A way is how to test a line of a document.
type way string

const (
	unknown way = ""
	nothing way = "no command"
	other   way = "runs elsewhere"
	helped  way = "is a name: there is help on it"
	ends    way = "runs to its end, or for a while"
	watched way = "runs until it prints its first line"
	served  way = "serves requests"
	asks    way = "asks the proxy"
)

var (
	isShell = map[string]bool{"sh": true, "bash": true, "console": true}

	ourPrograms  = regexp.MustCompile(`(^|[ (])(?:scripts/all )?(?:go run \./(?:\w+/)+([\w-]+)|\./(weir)\b)`)
	weirCommand  = regexp.MustCompile(`^weir `)
	onlyName     = regexp.MustCompile(`^weir( proxy.*| check| demo( [a-z]+)?| work| enqueue| jobs| record| replay| sim( run| suite| trace)?)?$`)
	elidedWords  = regexp.MustCompile(` \.\.\.$`)
	unended      = regexp.MustCompile(` \.\.\. |\[| --[a-z-]+$| [A-Z]+$`)
	startsServer = regexp.MustCompile(`^weir proxy .*--(to|config) `)
	startsDemo   = regexp.MustCompile(`^weir demo\b|^(http|worker|grpc|writer)\b`)
	asksServer   = regexp.MustCompile(`^(curl|jq) `)
)

// wayOf classifies a line, and returns the text for the shell.
func wayOf(l Line) (way, string) {
	commands, _ := Commands(l.At, l.Dir, l.Text)
	if len(commands) == 0 || !l.Span && !isShell[l.Language] {
		return nothing, ""
	}
	if l.Dir != "." || slices.ContainsFunc(commands, func(c Command) bool { return runsElsewhere(c) != "" }) {
		return other, ""
	}
	text := elidedWords.ReplaceAllString(l.Text, "")
	if !strings.Contains(text, "go run ./internal/") {
		text = ourPrograms.ReplaceAllString(text, "$1$2$3")
	}
	switch {
	case l.Span && !weirCommand.MatchString(text+" "): // another name, or code that internal/rules checks
		return nothing, ""
	case asksServer.MatchString(text):
		return asks, text
	case weirCommand.MatchString(text) && unended.MatchString(text):
		return helped, text
	case startsServer.MatchString(text):
		return served, text
	case l.Span && onlyName.MatchString(text):
		return helped, text
	case startsDemo.MatchString(text):
		return watched, text
	case weirCommand.MatchString(text):
		return ends, text
	}
	return unknown, text
}

// lines returns the lines of all documents, each command once.
func lines(t *testing.T) (all []Line) {
	t.Helper()
	documents := must.Have(Read(os.DirFS("../..")))(t)
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for _, l := range Lines(name, documents[name], ".") {
			how, text := wayOf(l)
			if key := string(how) + text; text == "" || !seen[key] {
				seen[key] = true
				all = append(all, l)
			}
		}
	}
	return all
}

// TestCommandsAreSorted checks that each command runs here or is known to run elsewhere, and
// lists all of them.
func TestCommandsAreSorted(t *testing.T) {
	sorted, used := map[way][]string{}, map[string]bool{}
	for _, l := range lines(t) {
		how, text := wayOf(l)
		if how == unknown {
			t.Errorf("%s: `%s`: no test runs this: see wayOf, or say in elsewhere where it runs", l.At, text)
		}
		if how == other {
			commands, _ := Commands(l.At, l.Dir, l.Text)
			text = l.Text
			for _, c := range commands {
				where := runsElsewhere(c)
				used[where] = true
				text += ": " + where
			}
		}
		sorted[how] = append(sorted[how], l.At+": "+text)
	}
	for how, list := range sorted {
		if how != nothing {
			t.Logf("%s, %d:\n\t%s", how, len(list), strings.Join(list, "\n\t"))
		}
	}
	for _, e := range elsewhere {
		if !used[e.where] {
			t.Errorf("elsewhere: no document has a command that runs in %s: delete it", e.where)
		}
	}
}

// TestDocumentsRun runs the commands of the documents, except the ones that run elsewhere.
func TestDocumentsRun(t *testing.T) {
	longtest.Skip(t)
	all := lines(t)
	r := newReader(t, programs(all))
	t.Run("Commands", func(t *testing.T) { runAll(t, r, all) })
	t.Run("Wrong", func(t *testing.T) { runWrong(t, r) })
	t.Run("Configurations", func(t *testing.T) { checkAll(t, r) })
}

func runAll(t *testing.T, r *reader, all []Line) {
	for _, l := range all {
		how, text := wayOf(l)
		do := map[way]func(testing.TB, string) error{
			helped: r.helps, ends: r.runs, watched: r.watches, served: r.serves, asks: r.asks,
		}[how]
		if do == nil {
			continue
		}
		t.Run(l.At, func(t *testing.T) {
			t.Parallel()
			if err := do(t, text); err != nil {
				t.Errorf("%s: %v", l.At, err)
			}
		})
	}
}

func runWrong(t *testing.T, r *reader) {
	for _, test := range []struct {
		do         func(testing.TB, string) error
		text, want string
	}{
		{r.runs, "weir sim run harm-20 --evry 10s", "`weir sim run harm-20 --evry 10s`: exit status 2\nweir: unknown flag --evry"},
		{r.runs, "weir check gone.yaml", "`weir check gone.yaml`: exit status 2\nweir: gone.yaml: no such file"},
		{r.runs, "weir sim run gone", "`weir sim run gone`: exit status 2"},
		{r.watches, "weir demo gone", "`weir demo gone` ended without a line"},
		{r.serves, "weir proxy --to gone", "`weir proxy --to gone --listen "},
		{r.asks, "curl --gone", "`curl --gone`: exit status 2"},
		{r.helps, "weir gone", "`weir gone`: exit status 2\nweir: no help on \"gone\""},
		{r.helps, "weir proxy --gone", "`weir proxy --gone`: there is no --gone"},

		{r.runs, "weir help laws", ""},
		{r.runs, "weir sim suite --named", ""},
		{r.watches, "weir demo bulkhead", ""},
	} {
		got := ""
		if err := test.do(t, test.text); err != nil {
			got = err.Error()
		}
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("got the complaint %q, want one that begins with %q", got, test.want)
		}
	}
}

func TestWays(t *testing.T) {
	document := "Run `weir sim` or `weir sim run slow30`, as `weir.New` does; `weir sim trace a.log ... --choose`, `weir proxy --law 'fixed(3)'`, `weir proxy --to URL`.\n" +
		"```sh\nscripts/all go run ./examples/writer   # a storm\nweir sim run slow30 \\\n    --law little ...  # and so on\n" +
		"go run ./cmd/weir demo\n./weir proxy --listen :8080 --to http://b\ncurl -s http://a |\n    jq .\ngone --flag\ngo test ./sim\ncd sim\ngo run .\nA_1=b\n```\n" +
		"```text\ngone\n```\n"
	want := []string{
		"a.md:1 is a name: there is help on it: weir sim",
		"a.md:1 runs to its end, or for a while: weir sim run slow30",
		"a.md:1 is a name: there is help on it: weir sim trace a.log ... --choose",
		"a.md:1 is a name: there is help on it: weir proxy --law 'fixed(3)'",
		"a.md:1 is a name: there is help on it: weir proxy --to URL",
		"a.md:3 runs until it prints its first line: writer",
		"a.md:4 runs to its end, or for a while: weir sim run slow30 --law little",
		"a.md:6 runs until it prints its first line: weir demo",
		"a.md:7 serves requests: weir proxy --listen :8080 --to http://b",
		"a.md:8 asks the proxy: curl -s http://a |jq .",
		"a.md:10 : gone --flag",
		"a.md:11 runs elsewhere: ",
		"a.md:13 runs elsewhere: ",
	}
	var got []string
	for _, l := range Lines("a.md", document, ".") {
		if how, text := wayOf(l); how != nothing {
			got = append(got, l.At+" "+string(how)+": "+text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
