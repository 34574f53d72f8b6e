package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// The page shows the figures of weir sim run, with the same bits.
func TestPlaygroundAgreesWithTheCommand(t *testing.T) {
	address := serve(t, builtSite(t).dir) + "playground/"
	tab := chromium.Start(t)
	tab.Look(t, 1280, 1800, "light")
	tab.Open(t, address)
	tab.Wait(t, "document.querySelectorAll('#scenario option').length > 20 && !worker")
	tab.Inspect(t, "before a run", "html")
	tab.Keep(t, *screenshots, "playground-begin")
	tab.Eval(t, "document.getElementById('run').click()", nil)
	tab.Wait(t, "answer && !busy && plots.length === 4")
	tab.Keep(t, *screenshots, "playground")
	tab.Inspect(t, "your system", "html")
	for _, scenario := range suites.Named()[:10] {
		tab.Eval(t, fmt.Sprintf("location.hash = %q", scenario.Name), nil)
		tab.Wait(t, fmt.Sprintf("!busy && answer.name === %q && plots.length === 4", scenario.Name))
		var got [][3]float64
		tab.Eval(t, "answer.runs.map(r => [r.good, r.refused, r.limit])", &got)
		for i, text := range []string{"setpoint", "gradient2", "aimd", "fixed(200)"} {
			l := must.Have(law.Parse(text))(t)
			r := must.Have(sim.Run(scenario, l, 1))(t)
			if want := [3]float64{float64(r.Good), float64(r.Refused), r.LimitMean}; got[i] != want {
				t.Errorf("%s, %s: good, refused and mean limit are %v in the browser, want %v", scenario.Name, text, got[i], want)
			}
		}
	}

	// Sliders change the system, and a wrong one has an error for its reader.
	tab.Eval(t, "location.hash = ''", nil)
	tab.Wait(t, "!busy && answer.name === 'your system'")
	var before, after json.RawMessage
	tab.Eval(t, "answer.runs[0].good", &before)
	tab.Eval(t, "(document.getElementById('workers').value = 20, document.getElementById('workers').dispatchEvent(new Event('input', {bubbles: true})))", nil)
	tab.Wait(t, fmt.Sprintf("!busy && answer.runs[0].good !== %s", before))
	tab.Eval(t, "answer.runs[0].good", &after)
	t.Logf("in time: %s of 50 workers, %s of 20", before, after)
	tab.Eval(t, "(document.getElementById('fixed').value = 0, document.getElementById('fixed').dispatchEvent(new Event('input', {bubbles: true})))", nil)
	tab.Wait(t, "!busy && !document.getElementById('state').textContent.includes('took')")

	var state string
	tab.Eval(t, "(document.getElementById('fixed').value = 200, document.getElementById('fixed').dispatchEvent(new Event('input', {bubbles: true})))", nil)
	tab.Wait(t, "!busy && document.getElementById('state').textContent.includes('took')")
	tab.Eval(t, "document.getElementById('state').textContent", &state)
	t.Log(state)
	tab.Eval(t, "void (window.light = plots)", nil)
	tab.Look(t, 360, 1800, "dark")
	tab.Wait(t, "plots !== light && plots[0].width === document.getElementById('charts').clientWidth") // drawn anew
	tab.Inspect(t, "your system at 360 px", "html")
	tab.Keep(t, *screenshots, "playground-360")
	tab.Silent(t, "the page")
}
