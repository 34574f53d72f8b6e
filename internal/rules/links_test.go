package rules

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	// link finds the targets of [text](target) and of [label]: target.
	link = regexp.MustCompile(`\]\(<?([^)>\s]+)|(?m:^\[[^\]]+\]:\s*(\S+))`)
	// code matches text shown verbatim: blocks and spans of code.
	code   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	scheme = regexp.MustCompile(`^[a-z]+:`)
)

func links(t *tree) (complaints []string) {
	for _, name := range t.paths {
		if path.Ext(name) != ".md" {
			continue
		}
		text, _ := fs.ReadFile(t.fsys, name)
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			target, _, _ := strings.Cut(match[1]+match[2], "#")
			if target == "" || scheme.MatchString(target) {
				continue
			}
			file := path.Join(path.Dir(name), target)
			if strings.HasPrefix(target, "/") {
				file = path.Clean(target[1:])
			}
			if _, err := fs.Stat(t.fsys, file); err != nil {
				complaints = append(complaints, fmt.Sprintf("%s: links to %s, but there is no %s: correct the link", name, target, file))
			}
		}
	}
	return complaints
}

func TestLinksLeadSomewhere(t *testing.T) {
	holds(t, links)
	complains(t, links, []string{"docs/a.md: links to gone.md, but there is no docs/gone.md", "docs/a.md: links to ../gone"},
		"docs/a.md", "[a](b.md#part) [b](gone.md) [c](https://example.com) [d](#part) [e](..) [f](/docs/b.md)\n"+
			"`[g](gone)` \n```\n[h](gone)\n```\n\n[i]: ../gone \"title\"\n",
		"docs/b.md", "")
}
