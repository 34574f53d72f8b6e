package chromium

import (
	"os"
	"path/filepath"
	"testing"
)

// axeScript reads axe from the folder of scripts/site.
func axeScript(t testing.TB) string {
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

// Inspect checks the guarantees of every page in the tab: no horizontal scrolling, and no
// accessibility barrier that axe finds.
func (tab Tab) Inspect(t testing.TB, what string, axe bool) {
	t.Helper()
	var wide struct{ Page, Window int }
	tab.Eval(t, "({Page: document.documentElement.scrollWidth, Window: window.innerWidth})", &wide)
	if wide.Page > wide.Window {
		t.Errorf("%s: is %d px wide in a window of %d", what, wide.Page, wide.Window)
	}
	if !axe {
		return
	}
	tab.Eval(t, axeScript(t), nil)
	var violations []violation
	tab.Eval(t, "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))", &violations)
	for _, v := range violations {
		t.Errorf("%s: %s: %s, at %d places, the first: %s\n%s", what, v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
	}
}
