package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/must"
)

var screenshots = flag.String("screenshots", "", "a `folder` for screenshots of some pages, at two widths in both schemes")

// The narrowest phones in use, and a laptop.
var widths = []int{360, 1280}

// hidden lists the tables of which a part is beyond the edge of their box.
const hidden = `[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.scrollWidth + ' px in ' + e.clientWidth + ': ' + e.innerText.slice(0, 60))`

func noneHidden(t *testing.T, tab *chromium.Tab, what string) {
	t.Helper()
	var tables []string
	tab.Eval(t, hidden, &tables)
	for _, table := range tables {
		t.Errorf("%s: a table does not fit: %s", what, table)
	}
}

// shown are the pages to inspect closely: one of each kind, in both schemes.
var shown = []string{"", "http/", "control/", "metrics/", "command/", "playground/", "decisions/", "decisions/0038-site/", "404.html"}

// serve serves a built site until the end of the test, and returns its address.
func serve(t *testing.T, dir string) string {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix(base, http.FileServer(http.Dir(dir))))
	t.Cleanup(server.Close)
	return server.URL + base
}

// A visit is what a browser finds on a page.
type visit struct {
	Links []string // to the site, without its host, with the style and the pictures
	IDs   []string
	Bytes int // of the page with all that is loaded at once
}

const visited = `({
	Links: [...document.querySelectorAll('[href], [src]')].map(e => e.href || e.src)
		.filter(to => to.startsWith(location.origin)).map(to => to.slice(location.origin.length)),
	IDs: [...document.querySelectorAll('[id]')].map(e => e.id),
	Bytes: performance.getEntries().filter(e => ['navigation', 'link', 'script', 'img', 'css'].includes(e.initiatorType) && !e.name.endsWith('.gif'))
		.reduce((sum, e) => sum + e.encodedBodySize, 0),
})`

// mostBytes is the largest size of a page with all the resources that a browser loads for it at
// once. An animation is loaded when the reader comes to it, and may have mostAnimated bytes.
const (
	mostBytes    = 200_000
	mostAnimated = 500_000
)

func TestPagesInABrowser(t *testing.T) {
	s := builtSite(t)
	if len(s.pages) < 80 {
		t.Errorf("%d pages: want a page for each document", len(s.pages))
	}
	address := serve(t, s.dir)
	paths := []string{"404.html"}
	for _, p := range s.pages {
		paths = append(paths, p.Path)
	}
	visits := make([]visit, len(paths))
	const tabs = 2 // one loads while the other computes
	t.Run("tabs", func(t *testing.T) {
		for n := range tabs {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				tab := chromium.Start(t)
				for i := n; i < len(paths); i += tabs {
					tab.Look(t, widths[1], 900, "light")
					tab.Open(t, address+paths[i])
					tab.Eval(t, visited, &visits[i])
					inspect(t, tab, paths[i])
				}
			})
		}
	})
	ids := map[string][]string{}
	for i, v := range visits {
		ids[base+paths[i]] = v.IDs
	}
	for i, v := range visits {
		for _, complaint := range checkLinks(s.dir, base+paths[i], v.Links, ids) {
			t.Errorf("%s: %s", paths[i], complaint)
		}
		if v.Bytes == 0 || v.Bytes > mostBytes {
			t.Errorf("%s: %d bytes with its style and pictures, want at most %d", paths[i], v.Bytes, mostBytes)
		}
	}
	for asset := range s.assets {
		if info := must.Have(os.Stat(filepath.Join(s.dir, asset)))(t); filepath.Ext(asset) == ".gif" && info.Size() > mostAnimated {
			t.Errorf("the animation %s has %d bytes, want at most %d", asset, info.Size(), mostAnimated)
		}
	}
}

// inspect checks the page of a tab as on a laptop, and then as on a phone. The pages that are shown
// have the barriers that others have around their text.
func inspect(t *testing.T, tab *chromium.Tab, path string) {
	t.Helper()
	text := "main"
	if slices.Contains(shown, path) {
		text = "html"
	}
	tab.Inspect(t, path, text)
	noneHidden(t, tab, path)
	tab.Look(t, widths[0], 800, "light")
	what := fmt.Sprintf("%s at %d px", path, widths[0])
	tab.Inspect(t, what, "")
	noneHidden(t, tab, what)
	tab.Silent(t, path)
}

// checkLinks checks that the links of a page lead to a file, and to one of its anchors, which are
// there once. A folder is no file: only its address with a slash at the end has its index.
func checkLinks(dir, from string, links []string, ids map[string][]string) (complaints []string) {
	for _, link := range links {
		to, err := url.Parse(link)
		if err != nil {
			complaints = append(complaints, err.Error())
			continue
		}
		below, ours := strings.CutPrefix(to.Path, base)
		if below == "" || strings.HasSuffix(below, "/") {
			below += "index.html"
		}
		if info, err := os.Stat(filepath.Join(dir, below)); !ours || err != nil || info.IsDir() {
			complaints = append(complaints, link+": there is no such file")
		} else if to.Fragment != "" && !slices.Contains(ids[to.Path], to.Fragment) {
			complaints = append(complaints, link+": there is no such anchor")
		}
	}
	if anchors := slices.Sorted(slices.Values(ids[from])); len(slices.Compact(anchors)) < len(ids[from]) {
		complaints = append(complaints, fmt.Sprintf("has an anchor twice: %q", ids[from]))
	}
	return complaints
}

func TestBrokenLinksAreFound(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"a/index.html", "b/index.html", "pictures/c.svg"} {
		must.Do(t, writeFile(filepath.Join(dir, file), nil))
	}
	links := []string{
		"/weir/b/#there", "/weir/a/#here", "/weir/pictures/c.svg",
		"/weir/b/#gone", "/weir/gone/", "/b/", "/weir/b", "/weir/pictures/",
	}
	got := checkLinks(dir, "/weir/a/", links, map[string][]string{"/weir/a/": {"here", "twice", "twice"}, "/weir/b/": {"there"}})
	want := []string{
		"/weir/b/#gone: there is no such anchor", "/weir/gone/: there is no such file", "/b/: there is no such file",
		"/weir/b: there is no such file", "/weir/pictures/: there is no such file", `has an anchor twice: ["here" "twice" "twice"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestPagesInBothSchemes(t *testing.T) {
	address := serve(t, builtSite(t).dir)
	tab := chromium.Start(t)
	for _, path := range shown {
		tab.Open(t, address+path)
		name := "home"
		if path != "" {
			name = strings.ReplaceAll(strings.Trim(path, "/"), "/", "-")
		}
		for _, scheme := range []string{"light", "dark"} {
			tab.Eval(t, "document.querySelector('nav.narrow details').open = false", nil)
			for _, width := range widths {
				tab.Look(t, width, 900, scheme)
				tab.Keep(t, *screenshots, fmt.Sprintf("%s-%d-%s", name, width, scheme))
			}
			if scheme == "dark" { // TestPagesInABrowser inspects the light one
				tab.Inspect(t, path+", dark", "html")
			}
			tab.Look(t, widths[0], 900, scheme)
			tab.Eval(t, "document.querySelector('nav.narrow details').open = true", nil)
			tab.Inspect(t, path+", "+scheme+", with the contents open", "html")
		}
	}
}

func TestSearchAndCopy(t *testing.T) {
	dir := builtSite(t).dir
	tab := chromium.Start(t)
	tab.Look(t, 1280, 900, "light")
	tab.Open(t, serve(t, dir)+"start/")
	tab.Eval(t, "document.getElementById('site-query').focus()", nil)
	for query, want := range map[string]string{
		"bulkheads":    base + "bulkheads/",
		"slow clients": base + "http/#slow-clients",
		"zzyzx":        "",
	} {
		tab.Eval(t, fmt.Sprintf("(document.getElementById('site-query').value = %q, search())", query), nil)
		var found []string
		tab.Eval(t, "[...document.querySelectorAll('#site-found a')].map(a => a.getAttribute('href').replace(location.origin, ''))", &found)
		if want == "" && len(found) > 0 || want != "" && !slices.Contains(found[:min(3, len(found))], want) {
			t.Errorf("%q finds %.5q, want %s among the first three", query, found, want)
		}
	}
	tab.Inspect(t, "with results", "html")
	tab.Press(t, "Escape")
	tab.Wait(t, "document.getElementById('site-results').hidden")

	tab.Eval(t, "document.querySelector('.copy').focus()", nil)
	tab.Press(t, "Enter")
	tab.Wait(t, "document.querySelector('.copy').textContent === 'Copied'")
	tab.Silent(t, "the page")
}
