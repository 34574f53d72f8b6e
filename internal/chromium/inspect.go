package chromium

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-go/weir/internal/must"
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
	return string(must.Have(os.ReadFile(found[len(found)-1]))(t))
}

type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// Inspect checks the guarantees of every page in the tab: no horizontal scrolling, and no
// accessibility barrier that axe finds. It looks at the whole page for "html", and nowhere for "".
func (tab *Tab) Inspect(t testing.TB, what, selector string) {
	t.Helper()
	var wide struct{ Page, Window int }
	tab.Eval(t, "({Page: document.documentElement.scrollWidth, Window: window.innerWidth})", &wide)
	if wide.Page > wide.Window {
		t.Errorf("%s: is %d px wide in a window of %d", what, wide.Page, wide.Window)
	}
	if selector == "" {
		return
	}
	var loaded bool
	if tab.Eval(t, "'axe' in window", &loaded); !loaded {
		axe := axeScript(t)
		tab.Eval(t, axe, nil)
		tab.Prepare(t, axe) // the browser keeps it compiled for the next page
	}
	var violations []violation
	tab.Eval(t, fmt.Sprintf("axe.run(%q, {resultTypes: ['violations']}).then(r => r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))", selector), &violations)
	for _, v := range violations {
		t.Errorf("%s: %s: %s, at %d places, the first: %s\n%s", what, v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
	}
}

// Views inspects a page at the widths of a laptop and of the narrowest phones in use, in both
// schemes, each once ready is true. With a folder it keeps screenshots.
func (tab *Tab) Views(t testing.TB, name string, height int, ready, folder string) {
	t.Helper()
	for _, width := range []int{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			what := fmt.Sprintf("%s-%d-%s", name, width, scheme)
			tab.Look(t, width, height, scheme)
			tab.Wait(t, ready)
			tab.Inspect(t, what, "html")
			tab.Keep(t, folder, what)
		}
	}
}

// Drawn waits until a canvas has some pixels in the colour of a variable of the style.
func (tab *Tab) Drawn(t testing.TB, canvas, variable string) {
	t.Helper()
	tab.Wait(t, fmt.Sprintf(`(() => {
		const canvas = %s, n = parseInt(getComputedStyle(document.documentElement).getPropertyValue('--%s').slice(1), 16);
		const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
		let found = 0;
		for (let i = 0; i < pixels.length; i += 4) if ((pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]) === n) found++;
		return found > 10;
	})()`, canvas, variable))
}
