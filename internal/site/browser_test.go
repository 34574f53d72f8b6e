package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var screenshots = flag.String("screenshots", "", "a `folder` for screenshots of some pages, at two widths in both schemes")

// The narrowest phones in use, and a laptop.
var widths = []int{360, 1280}

// shown are the pages to inspect closely: one of each kind, in both schemes.
var shown = []string{"", "http/", "control/", "metrics/", "packages/", "packages/weirhttp/", "commands/weir-sim-run/", "decisions/", "decisions/0038-site/", "404.html"}

// axeScript reads axe from the folder of scripts/site.
func axeScript(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	found, _ := filepath.Glob(filepath.Join(cache, "weir", "axe-*.js"))
	if len(found) == 0 {
		t.Fatal("axe is missing: run scripts/site install")
	}
	text, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A violation is a complaint of axe.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// inspect checks the guarantees of every page in the tab: no horizontal scrolling, and no
// accessibility barrier that axe finds.
func (tab tab) inspect(t *testing.T, what string, axe bool) {
	t.Helper()
	var wide struct{ Page, Window int }
	tab.eval(t, "({Page: document.documentElement.scrollWidth, Window: window.innerWidth})", &wide)
	if wide.Page > wide.Window {
		t.Errorf("%s: is %d px wide in a window of %d", what, wide.Page, wide.Window)
	}
	if !axe {
		return
	}
	var violations []violation
	tab.eval(t, "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))", &violations)
	for _, v := range violations {
		t.Errorf("%s: %s: %s, at %d places, the first: %s\n%s", what, v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
	}
}

// serve serves a built site until the end of the test, and returns its address.
func serve(t *testing.T, dir string) string {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix(base, http.FileServer(http.Dir(dir))))
	t.Cleanup(server.Close)
	return server.URL + base
}

func TestPagesInABrowser(t *testing.T) {
	s, dir := builtSite(t)
	address := serve(t, dir)
	axe := axeScript(t)
	chromium := startBrowser(t)

	const tabs = 2 // one loads while the other computes
	for n := range tabs {
		tab := chromium.tab(t)
		t.Run(fmt.Sprint("tab", n), func(t *testing.T) {
			t.Parallel()
			for i := n; i < len(s.pages); i += tabs {
				path := s.pages[i].Path
				tab.look(t, widths[1], 900, "light")
				tab.open(t, address+path)
				tab.eval(t, axe, nil)
				tab.inspect(t, path, true)
				tab.look(t, widths[0], 800, "light")
				tab.inspect(t, fmt.Sprintf("%s at %d px", path, widths[0]), false)
			}
		})
	}
}

func TestPagesInBothSchemes(t *testing.T) {
	_, dir := builtSite(t)
	address := serve(t, dir)
	axe := axeScript(t)
	tab := startBrowser(t).tab(t)
	for _, path := range shown {
		for _, width := range widths {
			for _, scheme := range []string{"light", "dark"} {
				what := fmt.Sprintf("%s at %d px, %s", path, width, scheme)
				tab.look(t, width, 900, scheme)
				tab.open(t, address+path)
				if *screenshots != "" {
					name := strings.ReplaceAll(strings.Trim(path, "/")+"-"+fmt.Sprint(width)+"-"+scheme+".png", "/", "-")
					tab.screenshot(t, filepath.Join(*screenshots, strings.TrimPrefix(name, "-")))
				}
				tab.eval(t, axe, nil)
				tab.inspect(t, what, true)
				if width == widths[0] {
					tab.eval(t, "document.querySelector('nav.narrow details').open = true", nil)
					tab.inspect(t, what+", with the contents open", true)
				}
			}
		}
	}
}
