package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestEntriesOfTheSearch(t *testing.T) {
	p := &page{Path: "a/", Title: "Title", Body: `<h1 id="t">Title</h1><p>One <b>two</b>.</p><h2 id="b">B <a href="#b">#</a></h2><p>three</p><ul><li>four</li></ul><style>no</style>`}
	entries := must.Have(p.entries())(t)
	want := `[{"a/" "Title" "" "Title" "One two ."} {"a/" "Title" "b" "B" "three four"}]`
	if got := fmt.Sprintf("%q", entries); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDescriptionIsCutAtAWord(t *testing.T) {
	for body, want := range map[string]string{
		"<h1>A</h1><p></p><p>One <b>two</b>.</p><p>no</p>": "One two.",
		"<p>" + strings.Repeat("word ", 100) + "</p>":      strings.TrimSpace(strings.Repeat("word ", 32)) + " ...",
		"<p>" + strings.Repeat("x", 200) + "</p>":          strings.Repeat("x", 160) + " ...",
		"<p>" + strings.Repeat("\u00e9", 100) + "</p>":     strings.Repeat("\u00e9", 80) + " ...",
		"<h1>A</h1>": "",
	} {
		p := &page{Body: markup(body)}
		if got := p.description(); got != want {
			t.Errorf("%.40s: got %q, want %q", body, got, want)
		}
	}
}

func TestSitemapHasEveryPage(t *testing.T) {
	s := &site{base: "/weir/", pages: []*page{{Path: ""}, {Path: "http/"}}}
	text := must.Have(s.sitemap())(t)
	want := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://weir-go.github.io/weir/</loc></url>` +
		`<url><loc>https://weir-go.github.io/weir/http/</loc></url></urlset>`
	if !strings.HasSuffix(string(text), want) {
		t.Errorf("got %s", text)
	}
}
