package rules

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
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

// A package with more words of comments than large has bounds of its own, twice the others.
const large = 3000

const allComments, allDocuments = "all comments", "all documents"

// A prose counts words and habits.
type prose struct {
	words int
	times []int    // of each of habits
	last  []string // the last place of each
}

// dialect bounds the habits in all comments together, in those of each large package, and in the
// documents. A comment is a line that begins with //, as scripts/size counts.
func dialect(t *tree) (complaints []string) {
	count := map[string]*prose{}
	add := func(of, at, line string) {
		if count[of] == nil {
			count[of] = &prose{times: make([]int, len(habits)), last: make([]string, len(habits))}
		}
		p := count[of]
		p.words += len(commentWord.FindAllString(line, -1))
		for i, h := range habits {
			if n := len(h.phrase.FindAllString(line, -1)); n > 0 {
				p.times[i], p.last[i] = p.times[i]+n, at
			}
		}
	}
	each := func(file string, do func(at, line string)) {
		text, _ := fs.ReadFile(t.fsys, file)
		for i, line := range strings.Split(string(text), "\n") {
			do(fmt.Sprintf("%s:%d", file, i+1), line)
		}
	}
	for _, file := range t.sources {
		each(file.path, func(at, line string) {
			if strings.HasPrefix(strings.TrimLeft(line, " \t"), "//") {
				add(file.dir, at, line)
				add(allComments, at, line)
			}
		})
	}
	for _, name := range t.paths {
		if path.Ext(name) == ".md" && path.Dir(name) == "docs" {
			each(name, func(at, line string) { add(allDocuments, at, line) })
		}
	}
	for _, of := range slices.Sorted(maps.Keys(count)) {
		for i, h := range habits {
			most := h.most
			if of != allComments && of != allDocuments {
				most *= 2
				if count[of].words <= large {
					continue
				}
			}
			if rate := 1000 * float64(count[of].times[i]) / float64(max(1, count[of].words)); rate > most {
				complaints = append(complaints, fmt.Sprintf("%s: %.2f times %q in 1,000 words, at most %v are allowed (scripts/size has all): name the thing, as in %s",
					of, rate, h.name, most, count[of].last[i]))
			}
		}
	}
	return complaints
}

var commentWord = regexp.MustCompile(`[A-Za-z']+`)

func TestDialect(t *testing.T) {
	holds(t, dialect)
	complains(t, dialect, []string{
		`all comments: 3.28 times "what" in 1,000 words, at most 1.5 are allowed (scripts/size has all): name the thing, as in b/b.go:10`,
		`all documents: 500.00 times "whom`, `b: 3.29 times "what"`,
	},
		"a/a.go", "// Package a is no\n// package.\npackage a\n\nvar a = 1 // what whom\n",
		"b/b.go", "// Package b"+strings.Repeat(" is what it is\n// "+strings.Repeat("so ", 300), 10)+"\npackage b\n",
		"docs/a.md", "Nobody knows.", "a.md", "Nobody", "docs/results/a.md", "Nobody")
}
