package rules

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// habits are turns of phrase that hide the noun of a sentence, and how often each may come in 1,000
// words of comments, or of documents. River has "what" 0.3 times in its comments.
var habits = []struct {
	name   string
	phrase *regexp.Regexp
	most   float64
}{
	{"what", regexp.MustCompile(`(?i)\bwhat\b`), 1.5},
	{"tell", regexp.MustCompile(`(?i)\b(?:tell|tells|told)\b`), 0.3},
	{"those of, that or in", regexp.MustCompile(`(?i)\bthose (?:of|that|in)\b`), 0.3},
	{"stand", regexp.MustCompile(`(?i)\b(?:stand|stands|stood)\b`), 0.2},
	{"whom, lest or nobody", regexp.MustCompile(`(?i)\b(whom|lest|nobody|manieth|whose turn|of no matter|who is next)\b`), 0},
}

// A prose counts words and habits.
type prose struct {
	name  string
	words int
	times []int    // of each of habits
	last  []string // the last place of each
}

var commentWord = regexp.MustCompile(`[A-Za-z']+`)

// read adds the lines of a file that belong to the prose.
func (p *prose) read(t *tree, name string, belongs func(line string) bool) {
	text, _ := fs.ReadFile(t.fsys, name)
	for i, line := range strings.Split(string(text), "\n") {
		if !belongs(line) {
			continue
		}
		p.words += len(commentWord.FindAllString(line, -1))
		for habit, h := range habits {
			if n := len(h.phrase.FindAllString(line, -1)); n > 0 {
				p.times[habit] += n
				p.last[habit] = fmt.Sprintf("%s:%d", name, i+1)
			}
		}
	}
}

// dialect bounds the habits in all comments, and in all documents. A comment is a line that begins
// with //, as scripts/size counts.
func dialect(t *tree) (complaints []string) {
	counts := func(name string) *prose {
		return &prose{name: name, times: make([]int, len(habits)), last: make([]string, len(habits))}
	}
	comments, documents := counts("all comments"), counts("all documents")
	for _, file := range t.sources {
		comments.read(t, file.path, func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "//") })
	}
	for _, name := range t.paths {
		if path.Ext(name) == ".md" && path.Dir(name) == "docs" {
			documents.read(t, name, func(string) bool { return true })
		}
	}
	for _, p := range []*prose{comments, documents} {
		for i, h := range habits {
			if rate := 1000 * float64(p.times[i]) / float64(max(1, p.words)); rate > h.most {
				complaints = append(complaints, fmt.Sprintf("%s: %.2f times %q in 1,000 words, at most %v are allowed (scripts/size has all): name the thing, as in %s",
					p.name, rate, h.name, h.most, p.last[i]))
			}
		}
	}
	return complaints
}

func TestDialect(t *testing.T) {
	holds(t, dialect)
	complains(t, dialect, []string{
		`all comments: 3.28 times "what" in 1,000 words, at most 1.5 are allowed (scripts/size has all): name the thing, as in b/b.go:10`,
		`all documents: 500.00 times "whom`,
	},
		"a/a.go", "// Package a is no\n// package.\npackage a\n\nvar a = 1 // what whom\n",
		"b/b.go", "// Package b"+strings.Repeat(" is what it is\n// "+strings.Repeat("so ", 300), 10)+"\npackage b\n",
		"docs/a.md", "Nobody knows.", "a.md", "Nobody", "docs/results/a.md", "Nobody")
}
