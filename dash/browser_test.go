package dash_test

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

var screenshots = flag.String("screenshots", "", "a `folder` for screenshots of the dashboard")

const token = "0123456789abcdef"

func secret() (string, error) { return token, nil }

// hostile are names that a page must not take for anything but text.
var hostile = []string{`<img src=x onerror="window.broken = true">`, `"';alert(1)//`, "a\nb\x00\x1b[31m\u202e", strings.Repeat("x", 1<<20)}

func serve(t *testing.T, address string, d *dash.Handler) (at string, stop func()) {
	t.Helper()
	listener := must.Have(net.Listen("tcp", address))(t)
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
	return must.Have(dash.New(c))(t)
}

func TestDashboardInABrowser(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	settings := weir.Config{Name: "search", Law: law.Fixed{}, Initial: 4}
	search := weir.Must(weir.New(settings))
	limiters := []*weir.Limiter{search}
	for _, name := range hostile {
		limiters = append(limiters, weir.Must(weir.New(weir.Config{Name: name})))
	}
	var refusals dash.Refusals
	config := dash.Config{Read: dash.Limiters(limiters...), Token: secret, Refusals: &refusals, Law: func(name string, l law.Law) error {
		if l == nil || name != "search" {
			return fmt.Errorf("%s: <b>cannot</b>", name)
		}
		settings.Law = l
		return search.Update(settings)
	}, Shadow: func(_ string, on bool) error {
		settings.Shadow = on
		return search.Update(settings)
	}}
	at, stop := serve(t, "127.0.0.1:0", newDash(t, config))
	tab := chromium.Start(t)

	tab.Look(t, 1280, 900, "light")
	tab.Open(t, "http://"+at+"/")
	tab.Inspect(t, "the form", "html")
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
		permit := must.Have(search.Acquire(t.Context()))(t)
		defer permit.Done(nil)
	}
	for _, id := range append(hostile, "r-1") {
		_, err := search.Acquire(weir.WithTenant(t.Context(), hostile[0]))
		refusals.Add(weir.WithTenant(t.Context(), hostile[0]), id, err)
	}
	tab.Wait(t, `document.querySelectorAll('#requests tbody tr').length === 5`)
	tab.Eval(t, `(document.getElementById('find').value = 'r-', document.getElementById('find').dispatchEvent(new Event('input')))`, nil)
	tab.Wait(t, `document.querySelector('#requests tbody').innerText.replace(/\s+/g, ' ').match(/^r-1 .* search limit reached <img/)`)
	tab.Eval(t, `document.getElementById('pin').elements.limit.focus()`, nil)
	tab.Eval(t, `document.getElementById('pin').elements.limit.value = 9`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.getElementById('changed').textContent === 'Pinned at 9.'`)
	tab.Wait(t, `document.getElementById('changes').textContent.includes('pinned: raised 4 to 9')`)
	tab.Wait(t, `document.getElementById('refusals').textContent.includes('limit reached5')`)
	tab.Wait(t, `charts.every(c => c.plot?.data[0].length === readings[at].length) && readings[inFlight].at(-1) === 4`)
	// The limit, work in flight and the mark are in the colours of the first chart.
	for _, css := range []string{"limit", "work"} {
		tab.Drawn(t, "charts[0].plot.ctx.canvas", css)
	}

	// A change in the list leads to its moment.
	tab.Eval(t, `document.querySelector('#changes button').focus()`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.getElementById('moment').textContent.includes('limit 9') && document.getElementById('moment').textContent.includes("pinned")`)
	tab.Eval(t, `document.querySelector('#figures summary').focus()`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.querySelectorAll('#figures tbody tr').length > 2`)

	tab.Views(t, "dash", 2600, `[...charts, ...curved].every(c => c.plot?.width === c.place.clientWidth)`, *screenshots)
	var broken bool
	if tab.Eval(t, "window.broken === true || document.querySelector('img') != null", &broken); broken {
		t.Error("a name became markup")
	}
	tab.Silent(t, "the page")
	tab.Eval(t, `document.querySelector('#shadow button').click()`, nil)
	tab.Wait(t, `document.querySelector('#limiters').innerText.includes('(shadow)') && document.querySelector('#shadow button').textContent === 'Turn shadow mode off'`)
	tab.Eval(t, `document.querySelector('#law [value=own]').click()`, nil)
	tab.Wait(t, `document.getElementById('changed').textContent.includes('search: <b>cannot</b>')`)
	tab.Eval(t, `(document.getElementById('law').elements.law.value = '<i>', document.querySelector('#law button').click())`, nil)
	tab.Wait(t, `document.getElementById('changed').textContent.includes('unknown law "<i>"')`)
	tab.Eval(t, `(document.getElementById('law').elements.law.value = 'aimd', document.querySelector('#law button').click())`, nil)
	tab.Wait(t, `document.getElementById('changed').textContent === 'aimd decides.'`)
	tab.Errors() // Chromium complains about the status 422

	// The connection is lost, and comes back.
	stop()
	tab.Wait(t, `document.getElementById('connection').textContent.startsWith('Connection lost')`)
	tab.Inspect(t, "lost", "html")
	tab.Keep(t, *screenshots, "dash-lost")
	serve(t, at, newDash(t, config))
	tab.Wait(t, `document.getElementById('connection').textContent === 'Live' && document.getElementById('name').textContent === 'search'`)
}

// The event of the connection shows that it is lost, without the timer that watches over silence.
func TestLostConnectionIsShownAtOnce(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	config := dash.Config{Read: dash.Limiters(weir.Must(weir.New(weir.Config{Name: "search"}))), Public: true}
	at, stop := serve(t, "127.0.0.1:0", newDash(t, config))
	tab := chromium.Start(t)
	tab.Prepare(t, "window.setInterval = () => 0")
	tab.Open(t, "http://"+at+"/")
	tab.Wait(t, `document.getElementById('connection').textContent === 'Live'`)
	stop()
	tab.Wait(t, `document.getElementById('connection').textContent.startsWith('Connection lost')`)
}

func TestRecordingInABrowser(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	var file strings.Builder
	file.WriteString(`{"weir":"recording","version":1}` + "\n" + `{"overview":{"limiters":[{"name":"search","limit":14}]}}` + "\n")
	begun := time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)
	for i := range 4 * 7200 { // four hours: more than a live page keeps
		change := ""
		if i == 300 {
			change = fmt.Sprintf(`{"at":%d,"to":14,"why":"p95 above target","text":"<b>p95</b> 131ms above 115ms: cut 20 to 14"}`, begun.Add(150*time.Second).UnixMilli())
		}
		fmt.Fprintf(&file, `{"details":{"name":"search","points":[[%d,%d,%d,2,0,40,88,100,60,40]],"changes":[%s],"refusals":[{"reason":"queue full","total":%d,"rate":40}],"decision":"p95 above target"}}`+"\n",
			begun.Add(time.Duration(i)*time.Second/2).UnixMilli(), 20-min(i/300, 1)*6, 10+i%5, change, 20*i)
	}
	page := must.Have(dash.Replay(strings.NewReader(file.String()), dash.Config{Public: true}))(t)
	at, _ := serve(t, "127.0.0.1:0", page)
	tab := chromium.Start(t)
	tab.Look(t, 1280, 1200, "light")
	tab.Open(t, "http://"+at+"/")
	tab.Wait(t, `document.getElementById('connection').textContent.startsWith('Recording from ') && readings[limit].length === 4 * 7200`)
	tab.Eval(t, `document.querySelector('#changes button').focus()`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.getElementById('moment').textContent.includes('limit 14') && document.getElementById('moment').textContent.includes('<b>p95</b>')`)
	// Silence does not count as a lost connection.
	tab.Wait(t, `performance.now() > 8000`)
	tab.Wait(t, `document.getElementById('connection').textContent.startsWith('Recording from ')`)
	tab.Wait(t, `document.body.innerText.includes('The law at the end: p95 above target')`)
	tab.Inspect(t, "a recording", "html")
	tab.Keep(t, *screenshots, "dash-recording")
	tab.Silent(t, "the page")
}
