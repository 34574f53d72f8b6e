package rules

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// dialect has the turns of phrase that hide the noun of a sentence, and how often they may come in
// 1,000 words of comments. River has "what" 0.3 times.
var dialect = []struct {
	name   string
	phrase *regexp.Regexp
	most   float64
}{
	{"what", regexp.MustCompile(`(?i)\bwhat\b`), 1.6},
	{"tell", regexp.MustCompile(`(?i)\b(?:tell|tells|told)\b`), 0.6},
	{"those of, that or in", regexp.MustCompile(`(?i)\bthose (?:of|that|in)\b`), 0.65},
	{"stand", regexp.MustCompile(`(?i)\b(?:stand|stands|stood)\b`), 0.25},
}

var commentWord = regexp.MustCompile(`[A-Za-z']+`)

// nounsNamed counts the dialect in the line comments of all folders together, and names the folder
// that has most of it.
func nounsNamed(t *tree) (complaints []string) {
	words, counts := 0, make([]map[string]int, len(dialect))
	for i := range counts {
		counts[i] = map[string]int{}
	}
	for _, file := range t.sources {
		for _, group := range file.Comments {
			for line := range strings.SplitSeq(written(group), "\n") {
				words += len(commentWord.FindAllString(line, -1))
				for i, d := range dialect {
					counts[i][file.dir] += len(d.phrase.FindAllString(line, -1))
				}
			}
		}
	}
	for i, d := range dialect {
		all, worst := 0, ""
		for dir, n := range counts[i] {
			all += n
			if n > counts[i][worst] || n == counts[i][worst] && dir < worst {
				worst = dir
			}
		}
		if rate := 1000 * float64(all) / float64(max(1, words)); rate > d.most {
			complaints = append(complaints, fmt.Sprintf("%.2f times %q in 1,000 words of comments, at most %v are allowed: name the thing, first in %s", rate, d.name, d.most, worst))
		}
	}
	return complaints
}

func TestCommentsNameThings(t *testing.T) {
	holds(t, nounsNamed)
	complains(t, nounsNamed, []string{`125.00 times "what" in 1,000 words of comments, at most 1.6 are allowed: name the thing, first in a`},
		"a/a.go", "// Package a is what it is.\npackage a\n", "b/b.go", "// Two.\npackage b\n\n// One.\n")
}
