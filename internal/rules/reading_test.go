package rules

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
)

// mostWords is the upper bound for the average sentence length of a page.
const mostWords = 20

var (
	image     = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	target    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	listed    = regexp.MustCompile(`^\s*([-*]|\d+\.)\s`)
	sentence  = regexp.MustCompile(`[.!?]["*)]*(\s+|$)`)
	wordChars = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}'’.,%×/-]*`)
	vowels    = regexp.MustCompile(`[aeiouy]+`)
)

// A reading measures how hard a text is to read.
type reading struct{ sentences, words, syllables int }

// length returns the mean length of a sentence in words.
func (r reading) length() float64 { return float64(r.words) / max(1, float64(r.sentences)) }

// grade returns the Flesch-Kincaid grade: years of school.
func (r reading) grade() float64 {
	return 0.39*r.length() + 11.8*float64(r.syllables)/max(1, float64(r.words)) - 15.59
}

// read measures paragraphs.
func read(paragraphs []string) (r reading) {
	for _, text := range paragraphs {
		for _, s := range sentence.Split(text, -1) {
			words := wordChars.FindAllString(s, -1)
			if len(words) == 0 {
				continue
			}
			r.sentences++
			r.words += len(words)
			for _, word := range words {
				r.syllables += syllables(word)
			}
		}
	}
	return r
}

// syllables counts the groups of vowels, without a silent e. A number or an abbreviation is one.
func syllables(word string) int {
	word = strings.ToLower(word)
	n := len(vowels.FindAllString(word, -1))
	if strings.HasSuffix(word, "e") && !strings.HasSuffix(word, "le") && n > 1 {
		n--
	}
	return max(1, n)
}

// prose returns the paragraphs and the list items of a page. Code, tables and headings are
// not sentences; a span of code counts as one word.
func prose(page string) (paragraphs []string) {
	var now []string
	end := func() {
		if len(now) > 0 {
			paragraphs = append(paragraphs, strings.Join(now, " "))
		}
		now = nil
	}
	page = span.ReplaceAllString(fenced.ReplaceAllString(page, "\n\n"), "code")
	page = target.ReplaceAllString(image.ReplaceAllString(page, ""), "$1")
	for line := range strings.Lines(page) {
		text := listed.ReplaceAllString(strings.TrimSpace(line), "")
		if text == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(text, "|") || strings.HasPrefix(line, "    ") {
			end()
			continue
		}
		if listed.MatchString(line) {
			end()
		}
		now = append(now, text)
	}
	end()
	return paragraphs
}

var fenced = regexp.MustCompile("(?s)```.*?```")

// shortSentences demands short sentences of every page.
func shortSentences(t *tree) (complaints []string) {
	for _, name := range pages(t) {
		text, _ := fs.ReadFile(t.fsys, name)
		if r := read(prose(string(text))); r.length() >= mostWords {
			complaints = append(complaints, fmt.Sprintf("%s: %.1f words in the average sentence: want fewer than %d", name, r.length(), mostWords))
		}
	}
	return complaints
}

// nameless matches phrases without a noun, such as sentences that begin with a relative
// clause, and others that pages avoid.
var nameless = regexp.MustCompile(`(?:^|[.!?]["*)]*\s+)\**What [^.!?]*\.|(?i:\b(?:whoever|whomever|somebody|none but)\b)|\bas it is[.,:;)]`)

// named demands that the sentences of a page name their subject.
func named(t *tree) (complaints []string) {
	for _, name := range pages(t) {
		text, _ := fs.ReadFile(t.fsys, name)
		for _, paragraph := range prose(string(text)) {
			for _, phrase := range nameless.FindAllString(paragraph, -1) {
				complaints = append(complaints, fmt.Sprintf("%s: %q: name who does what", name, phrase))
			}
		}
	}
	return complaints
}

// pages returns the documents that the site shows, except decisions.
func pages(t *tree) (names []string) {
	for _, name := range t.paths {
		if path.Ext(name) == ".md" && name != "CHANGELOG.md" && slices.Contains([]string{".", "docs", "docs/results"}, path.Dir(name)) {
			names = append(names, name)
		}
	}
	return names
}

func TestEnglishIsShort(t *testing.T) {
	holds(t, shortSentences)
	long := strings.Repeat("word ", 20) + "end.\n"
	complains(t, shortSentences, []string{"docs/a.md: 21.0 words in the average sentence: want fewer than 20"},
		"docs/a.md", long, "docs/b.md", long+"\nShort.\n\n```\n"+long+"```\n\n| "+long, "docs/decisions/1.md", long, "docs/c.md", "# "+long+"\n`"+long+"`")
}

func TestEnglishNamesThings(t *testing.T) {
	holds(t, named)
	complains(t, named, []string{`docs/a.md: ". What waits here.": name`, `docs/a.md: "Whoever"`, `docs/a.md: "as it is."`},
		"docs/a.md", "It works. What waits here. What is it? Whoever asks,\nas soon as it is there, gets it as it is.\n\n```\nWhat stands.\n```\n")
}

func TestEnglishIsCounted(t *testing.T) {
	got := read(prose("# Title\n\nA limiter has `n` slots. It\nqueues the rest:\n\n- so [it](a.md) waits\n- or not!\n\n![a picture](b.svg)\n"))
	if want := (reading{sentences: 4, words: 14, syllables: 16}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for word, want := range map[string]int{"queue": 1, "limiter": 3, "table": 2, "late": 1, "100": 1, "concurrency": 4} {
		if got := syllables(word); got != want {
			t.Errorf("syllables(%q) = %d, want %d", word, got, want)
		}
	}
}

// TestEnglishReadsLikeTime prints, with -v, the grade of every page and of the documentation
// of x/time/rate in go doc.
func TestEnglishReadsLikeTime(t *testing.T) {
	longtest.Skip(t)
	anchor, err := documentation("golang.org/x/time/rate")
	if err != nil {
		t.Skipf("golang.org/x/time is not there: %v", err)
	}
	want := read(anchor)
	t.Logf("%5.1f words a sentence, grade %4.1f: x/time/rate", want.length(), want.grade())

	all, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	var total reading
	for _, name := range pages(all) {
		text, _ := fs.ReadFile(all.fsys, name)
		r := read(prose(string(text)))
		t.Logf("%5.1f words a sentence, grade %4.1f: %s", r.length(), r.grade(), name)
		total.sentences, total.words, total.syllables = total.sentences+r.sentences, total.words+r.words, total.syllables+r.syllables
	}
	t.Logf("%5.1f words a sentence, grade %4.1f: all", total.length(), total.grade())
	if total.grade() > want.grade()+1 {
		t.Errorf("the pages have grade %.1f, x/time/rate has %.1f: want no more than one above", total.grade(), want.grade())
	}
}

// documentation returns the paragraphs of the comments of a package, without its code.
func documentation(pkg string) (paragraphs []string, err error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(string(bytes.TrimSpace(dir)), "*.go"))
	if err != nil {
		return nil, err
	}
	fset, files := token.NewFileSet(), []*ast.File(nil)
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(name, "_test.go") {
			files = append(files, file)
		}
	}
	docs, err := doc.NewFromFiles(fset, files, pkg)
	if err != nil {
		return nil, err
	}
	add := func(text string) {
		paragraphs = append(paragraphs, prose(strings.ReplaceAll(text, "\n\t", "\n    "))...)
	}
	functions := docs.Funcs
	add(docs.Doc)
	for _, value := range append(docs.Consts, docs.Vars...) {
		add(value.Doc)
	}
	for _, typ := range docs.Types {
		add(typ.Doc)
		functions = append(append(functions, typ.Funcs...), typ.Methods...)
	}
	for _, function := range functions {
		add(function.Doc)
	}
	return paragraphs, nil
}
