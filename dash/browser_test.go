package dash_test

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/law"
)

var screenshots = flag.String("screenshots", "", "a `folder` for screenshots of the dashboard")

const token = "0123456789abcdef"

func secret() (string, error) { return token, nil }

// hostile are names that a page must not take for anything but text.
var hostile = []string{`<img src=x onerror="window.broken = true">`, `"';alert(1)//`, "a\nb\x00\x1b[31m\u202e", strings.Repeat("x", 1<<20)}

// serve serves a dashboard at an address until stop.
func serve(t *testing.T, address string, d *dash.Handler) (at string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: d}
	go server.Serve(listener)
	stop = func() {
		d.Close()
		server.Close()
	}
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

func newDash(t *testing.T, c dash.Config) *dash.Handler {
	t.Helper()
	d, err := dash.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDashboardInABrowser(t *testing.T) {
	longtest.Skip(t)
	settings := weir.Config{Name: "search", Law: law.Fixed{}, Initial: 4}
	search := weir.Must(weir.New(settings))
	limiters := []*weir.Limiter{search}
	for _, name := range hostile {
		limiters = append(limiters, weir.Must(weir.New(weir.Config{Name: name})))
	}
	config := dash.Config{Read: dash.Limiters(limiters...), Token: secret}
	at, stop := serve(t, "127.0.0.1:0", newDash(t, config))
	tab := chromium.Start(t).Tab(t)

	tab.Look(t, 1280, 900, "light")
	tab.Open(t, "http://"+at+"/")
	tab.Inspect(t, "the form", true)
	tab.Errors() // Chromium complains about the status 401
	tab.Follow(t, `location.hash = '%'; document.querySelector('input').value = '`+token+`'; document.querySelector('form').submit()`)
	tab.Wait(t, `document.getElementById('connection')?.textContent === 'Live'`)
	var cookie string
	if tab.Eval(t, "document.cookie", &cookie); cookie != "" {
		t.Errorf("a script reads the cookie %q", cookie)
	}

	// The first limiter by name is shown until another one is chosen: by the keyboard, here.
	tab.Wait(t, `document.querySelectorAll('#limiters tbody tr').length === 5`)
	tab.Eval(t, `[...document.querySelectorAll('#limiters a')].find(a => a.textContent === 'search').focus()`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.getElementById('name').textContent === 'search' && readings[limit].length > 2`)

	// Work, refusals, and a change of the limit with its reason.
	for range 4 {
		permit, err := search.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer permit.Done(nil)
	}
	if _, err := search.Acquire(t.Context()); err == nil {
		t.Fatal("no refusal")
	}
	settings.Min, settings.Initial = 9, 9
	if err := search.Update(settings); err != nil {
		t.Fatal(err)
	}
	tab.Wait(t, `document.getElementById('changes').textContent.includes('pinned: raised 4 to 9')`)
	tab.Wait(t, `document.getElementById('refusals').textContent.includes('limit reached1')`)
	tab.Wait(t, `charts.every(c => c.plot.data[0].length === readings[at].length) && readings[inFlight].at(-1) === 4`)
	// The limit, work in flight and the mark are in the colours of the first chart.
	for _, css := range []string{"limit", "work"} {
		tab.Wait(t, fmt.Sprintf(`(() => {
			const {ctx} = charts[0].plot, {width, height} = ctx.canvas, n = parseInt(getComputedStyle(document.documentElement).getPropertyValue('--%s').slice(1), 16);
			const pixels = ctx.getImageData(0, 0, width, height).data;
			let found = 0;
			for (let i = 0; i < pixels.length; i += 4) if ((pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]) === n) found++;
			return found > 20;
		})()`, css))
	}

	// A change in the list leads to its moment.
	tab.Eval(t, `document.querySelector('#changes button').focus()`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.getElementById('moment').textContent.includes('limit 9') && document.getElementById('moment').textContent.includes("pinned")`)
	tab.Eval(t, `document.querySelector('#figures summary').focus()`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.querySelectorAll('#figures tbody tr').length > 2`)

	for _, width := range []int{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			what := fmt.Sprintf("dash-%d-%s", width, scheme)
			tab.Look(t, width, 1400, scheme)
			tab.Wait(t, `charts.every(c => c.plot.width === c.place.clientWidth)`)
			tab.Inspect(t, what, true)
			if *screenshots != "" {
				tab.Screenshot(t, filepath.Join(*screenshots, what+".png"))
			}
		}
	}
	var broken bool
	if tab.Eval(t, "window.broken === true || document.querySelector('img') != null", &broken); broken {
		t.Error("a name became markup")
	}
	for _, complaint := range tab.Errors() {
		t.Errorf("in the console: %s", complaint)
	}

	// The connection is lost, and comes back.
	stop()
	tab.Wait(t, `document.getElementById('connection').textContent.startsWith('Connection lost')`)
	tab.Inspect(t, "lost", true)
	if *screenshots != "" {
		tab.Screenshot(t, filepath.Join(*screenshots, "dash-lost.png"))
	}
	serve(t, at, newDash(t, config))
	tab.Wait(t, `document.getElementById('connection').textContent === 'Live' && document.getElementById('name').textContent === 'search'`)
}
