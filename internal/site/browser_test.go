package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/chromium"
)

var screenshots = flag.String("screenshots", "", "a `folder` for screenshots of some pages, at two widths in both schemes")

// The narrowest phones in use, and a laptop.
var widths = []int{360, 1280}

// shown are the pages to inspect closely: one of each kind, in both schemes.
var shown = []string{"", "http/", "control/", "metrics/", "packages/", "packages/weirhttp/", "commands/weir-sim-run/", "decisions/", "decisions/0038-site/", "404.html"}

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
	browser := chromium.Start(t)

	const tabs = 2 // one loads while the other computes
	for n := range tabs {
		tab := browser.Tab(t)
		t.Run(fmt.Sprint("tab", n), func(t *testing.T) {
			t.Parallel()
			for i := n; i < len(s.pages); i += tabs {
				path := s.pages[i].Path
				tab.Look(t, widths[1], 900, "light")
				tab.Open(t, address+path)
				tab.Inspect(t, path, true)
				tab.Look(t, widths[0], 800, "light")
				tab.Inspect(t, fmt.Sprintf("%s at %d px", path, widths[0]), false)
			}
		})
	}
}

func TestPagesInBothSchemes(t *testing.T) {
	_, dir := builtSite(t)
	address := serve(t, dir)
	tab := chromium.Start(t).Tab(t)
	for _, path := range shown {
		for _, width := range widths {
			for _, scheme := range []string{"light", "dark"} {
				what := fmt.Sprintf("%s at %d px, %s", path, width, scheme)
				tab.Look(t, width, 900, scheme)
				tab.Open(t, address+path)
				if *screenshots != "" {
					name := strings.ReplaceAll(strings.Trim(path, "/")+"-"+fmt.Sprint(width)+"-"+scheme+".png", "/", "-")
					tab.Screenshot(t, filepath.Join(*screenshots, strings.TrimPrefix(name, "-")))
				}
				tab.Inspect(t, what, true)
				if width == widths[0] {
					tab.Eval(t, "document.querySelector('nav.narrow details').open = true", nil)
					tab.Inspect(t, what+", with the contents open", true)
				}
			}
		}
	}
}
