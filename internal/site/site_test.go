package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// repositoryOf writes a small repository: pairs of a file and its text.
func repositoryOf(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		must.Do(t, writeFile(filepath.Join(root, files[i]), []byte(files[i+1])))
	}
	must.Do(t, writeFile(filepath.Join(root, "site/page.html"), nil))
	must.Do(t, writeFile(filepath.Join(root, "site/missing.md"), []byte("# Missing\n")))
	return root
}

const smallNav = "home: README.md\nsections:\n- title: Guides\n  pages:\n  - {title: A, file: docs/a.md}\n"

func loadSmall(t *testing.T, guide string, files ...string) (string, error) {
	t.Helper()
	root := repositoryOf(t, append([]string{navFile, smallNav, "README.md", "# Home\n\n## Part one\n", "docs/a.md", guide}, files...)...)
	s, err := load(root)
	if err != nil {
		return "", err
	}
	return string(s.pages[1].Body), nil
}

func TestLinksBecomeThoseOfTheSite(t *testing.T) {
	for link, want := range map[string]string{
		"[x](../README.md)":                  `<a href="/weir/">`,
		"[x](../README.md#part-one)":         `<a href="/weir/#part-one">`,
		"[x](#a)":                            `<a href="#a">`,
		"[x](a.md#a)":                        `<a href="#a">`,
		"[x](../law/aimd.go#L3)":             `<a href="https://github.com/weir-go/weir/blob/main/law/aimd.go#L3">`,
		"[law](../law/doc.go)":               `<a href="https://pkg.go.dev/github.com/weir-go/weir/law">`,
		"[x](../law)":                        `<a href="https://github.com/weir-go/weir/tree/main/law">`,
		"[x](..)":                            `<a href="/weir/">`,
		"[x](https://example.com/a.md#b)":    `<a href="https://example.com/a.md#b">`,
		"![x](p.svg)":                        `<img src="/weir/docs/p.svg" alt="x">`,
		"<!-- go: var x int -->\n\n[x](#a)":  `<p><a href="#a">`,
		`<img src="p.svg" alt="x">`:          `<img src="/weir/docs/p.svg" alt="x">`,
		`text <img src="p.svg" alt="x"> end`: `text <img src="/weir/docs/p.svg" alt="x"> end`,
		`<script src="../site/static/x.js">`: `<script src="/weir/x.js">`,
		"![x](p.jpg)":                        `<img src="/weir/docs/p.jpg" alt="x">`,
		"![x](https://example.com/badge)":    `<img src="https://example.com/badge" alt="x">`,
	} {
		body, err := loadSmall(t, "# A\n\n"+link+"\n", "docs/p.svg", "<svg/>", "docs/p.jpg", "", "law/aimd.go", "package law", "law/doc.go", "", "site/static/x.js", "")
		if err != nil || !strings.Contains(body, want) {
			t.Errorf("%s: got %s and the error %v, want %s", link, body, err, want)
		}
	}
}

func TestWrongSitesFailTheBuild(t *testing.T) {
	for _, c := range []struct{ guide, file, text, want string }{
		{guide: "# A\n\nword\n[x](gone.md)\n", want: "docs/a.md:4: links to gone.md, but there is no docs/gone.md"},
		{guide: "# A\n\n[x](../README.md#gone)\n", want: "docs/a.md:3: links to ../README.md#gone, but README.md has no such heading"},
		{guide: "# A\n\n<img src=\"gone.svg\">\n", want: "docs/a.md:3: links to gone.svg, but there is no docs/gone.svg"},
		{guide: "## A\n", want: "docs/a.md: has no heading of the first level"},
		{guide: "# A\n", file: "docs/b.md", text: "# B\n", want: "docs/b.md: is not in site/data/nav.yaml"},
		{guide: "# A\n", file: "docs/c/b.md", text: "# B\n", want: "docs/c/b.md: is not in site/data/nav.yaml"},
		{guide: "# A\n", file: navFile, text: smallNav + "  - {title: B, file: docs/b.md}\n", want: `site/data/nav.yaml: "B": open `},
		{guide: "# A\n", file: navFile, text: smallNav + "  - {title: B, file: README.md}\n", want: `site/data/nav.yaml: "B": README.md and README.md both become /weir/: rename one`},
		{guide: "# A\n", file: navFile, text: smallNav + "  - {title: B, file: A.md}\n", want: "docs/a.md and A.md both become /weir/a/: rename one"},
		{guide: "# A\n", file: navFile, text: smallNav + "  - {title: B}\n", want: `site/data/nav.yaml: "B": `},
		{guide: "# A\n", file: navFile, text: smallNav + "  - {titel: B}\n", want: "unknown field"},
	} {
		files := []string{"A.md", "# Big\n"}
		if c.file != "" {
			files = append(files, c.file, c.text)
		}
		if _, err := loadSmall(t, c.guide, files...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q with %s: got the error %v, want %s", c.guide, c.file, err, c.want)
		}
	}
}

// TestHostileMarkdown: bad Markdown fails or is shown as text, and never makes a dead link.
func TestHostileMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"[x](<with space.md>)":                 "",
		"[x](with%20space.md)":                 "",
		"![x](missing.svg)":                    "",
		"<img src=missing.svg":                 "<p>&lt;img src=missing.svg</p>",
		"## `a<b>` & \"c\"\n## `a<b>` & \"c\"": `<h2 id="ab--c-1">`,
		"```go\nfunc (":                        "</code></pre>",
		"<div>\n\n## In it":                    `<h2 id="in-it">`,
		"[x][gone]":                            "[x][gone]",
	} {
		body, err := loadSmall(t, "# A\n\n"+text+"\n")
		if want == "" && err == nil || want != "" && (err != nil || !strings.Contains(body, want)) {
			t.Errorf("%q: got %s and the error %v, want %q", text, body, err, want)
		}
	}
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	p := parsed("# Weir's `Do(ctx)`, *again*\n## a_b - c\n## a_b - c\n## 0.5 % of [all](x.md)\n## Über\n")
	for _, want := range []string{"weirs-doctx-again", "a_b---c", "a_b---c-1", "05--of-all", "über"} {
		if !p.anchors[want] {
			t.Errorf("there is no anchor %s among %v", want, p.anchors)
		}
	}
}

func parsed(markdown string) *page {
	p := &page{Path: "a/", markdown: []byte(markdown), anchors: map[string]bool{}}
	p.parse()
	return p
}

func TestTablesAndCode(t *testing.T) {
	body := must.Have(loadSmall(t, "# A\n\n| | b |\n|---|--:|\n| c | d |\n\n```go\nfunc f() {}\n```\n\n```\n<plain>\n```\n"))(t)
	for _, want := range []string{
		`<table class="scroll" role="table" tabindex="0">`, `<th role="cell"></th>`, `<th align="right">b`,
		`<td align="right" role="cell" data-head="b">d`, `<span class="kd">func</span>`, "<code>&lt;plain&gt;",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in\n%s", want, body)
		}
	}
}

func TestPartsForTheSearch(t *testing.T) {
	p := parsed("# Title\n\nOne **two**.\n\n## B\n\nthree\n\n- four\n\n```\nfive\n```\n<!-- no -->\n")
	s := &site{pages: []*page{p}}
	want := `[{"a/" "Title" "" "Title" "One two ."} {"a/" "Title" "b" "B" "three four five"}]`
	if got := fmt.Sprintf("%q", s.searched()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
