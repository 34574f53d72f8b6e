package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/chromium"
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

func TestPagesInABrowser(t *testing.T) {
	s := builtSite(t)
	address := serve(t, s.dir)

	const tabs = 2 // one loads while the other computes
	for n := range tabs {
		t.Run(fmt.Sprint("tab", n), func(t *testing.T) {
			t.Parallel()
			tab := chromium.Start(t)
			for i := n; i < len(s.pages); i += tabs {
				path := s.pages[i].Path
				tab.Look(t, widths[1], 900, "light")
				tab.Open(t, address+path)
				tab.Inspect(t, path, true)
				noneHidden(t, tab, path)
				tab.Look(t, widths[0], 800, "light")
				what := fmt.Sprintf("%s at %d px", path, widths[0])
				tab.Inspect(t, what, false)
				noneHidden(t, tab, what)
				tab.Silent(t, path)
			}
		})
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
		tab.Views(t, name, 900, "true", *screenshots)
		for _, scheme := range []string{"light", "dark"} {
			tab.Look(t, widths[0], 900, scheme)
			tab.Eval(t, "document.querySelector('nav.narrow details').open = true", nil)
			tab.Inspect(t, path+", "+scheme+", with the contents open", true)
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
	tab.Inspect(t, "with results", true)
	tab.Press(t, "Escape")
	tab.Wait(t, "document.getElementById('site-results').hidden")

	tab.Eval(t, "document.querySelector('.copy').focus()", nil)
	tab.Press(t, "Enter")
	tab.Wait(t, "document.querySelector('.copy').textContent === 'Copied'")
	tab.Silent(t, "the page")
}
