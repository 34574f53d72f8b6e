package dash_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/throttle"
)

// The curves over the work in flight, the slots at rest, and the shares of a set with a cap.
func TestCurvesAndSharesInABrowser(t *testing.T) {
	longtest.Skip(t)
	n := 0
	decisions := []law.Reason{
		{Code: law.Rebased, Signal: law.NoLoad, Have: 0.0301, Want: 0.0301},
		{Code: law.Above, Signal: law.Average, Have: 0.09, Want: 0.032},
	}
	db := must.Have(throttle.New(throttle.Config{Name: "db"}))(t)
	tables := func() []dash.Table {
		return append(dash.Throttles(db)(), dash.Table{Name: hostile[0], Rows: [][2]string{{hostile[1], strings.Repeat("x", 1<<20)}}})
	}
	mails := must.Have(pool.New(pool.Config{Capacity: must.Have(capacity.New(capacity.Vector{"slots": 2}))(t), Source: pool.Slice(nil)}))(t)
	d := newDash(t, dash.Config{Public: true, Pools: map[string]*pool.Pool{"mails": mails}, Tables: tables, Read: func() []weir.Snapshot {
		n++
		busy, latencies := 1+n%5, histogram.Snapshot{Count: uint64(20 * n)}
		for i := range 8 {
			latencies.Buckets = append(latencies.Buckets, histogram.Bucket{Index: 4*i - 40, Count: uint64(n * (8 - i))})
		}
		return []weir.Snapshot{
			{
				Name: "search", Limit: 8, InFlight: busy, Resting: 2, P50: time.Duration(30+busy) * time.Millisecond, P95: 88 * time.Millisecond,
				Admitted: uint64(10 * n), Completed: uint64(10 * n), Reserved: 2, Entitled: 5.25, Borrowed: 1, Latencies: &latencies, Decision: decisions[n/2%2],
			},
			{Name: `<b>"alone"`},
		}
	}})
	at, _ := serve(t, "127.0.0.1:0", d)
	tab := chromium.Start(t)
	tab.Look(t, 1280, 900, "light")
	tab.Prepare(t, `
		const texts = {}; // the last place of each text on a canvas
		const fillText = CanvasRenderingContext2D.prototype.fillText;
		CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
			const width = this.measureText(text).width;
			texts[text] = {left: this.textAlign === 'right' ? x - width : x, width, bottom: y};
			fillText.call(this, text, x, y);
		};
		const apart = (a, b) => a.left + a.width < b.left || b.left + b.width < a.left || Math.abs(a.bottom - b.bottom) > 12;`)
	tab.Open(t, "http://"+at+"/#search")
	tab.Wait(t, `document.getElementById('name').textContent === 'search' && curved.length === 2 && curved[0].plot?.data[0].join() === '1,2,3,4,5' && curved[1].plot?.data[1].join() === '31,32,33,34,35'`)
	tab.Wait(t, `document.getElementById('shares').innerText.replace(/\s+/g, ' ').endsWith('Borrowed search '+readings[inFlight].at(-1)+' 2 5.3 1')`)
	tab.Wait(t, `document.querySelectorAll('#tables table').length === 4 && document.getElementById('tables').innerText.includes('db writes') && document.querySelector('#tables img') == null`)
	tab.Wait(t, `readings[resting].at(-1) === 2`)
	tab.Eval(t, `document.querySelector('#concurrency summary').focus()`, nil)
	tab.Press(t, "Enter")
	tab.Wait(t, `document.querySelectorAll('#concurrency tbody tr').length === 5 && document.querySelector('#concurrency tbody tr').lastChild.textContent === '31'`)
	// The beliefs of the law, and the heat map.
	tab.Wait(t, `document.getElementById('belief').textContent.match(/^Latency without load: 30.1 ms, measured at .*Target of the average: 32 ms/)`)
	tab.Wait(t, `heat.length > 1 && heat[0][1] === -10 && heat[0][3] === -9 && heat[0][2] > 0 && heat[0][2] * 7 === heat[0][4] * 8 && charts.length === 5`)
	tab.Wait(t, `curved.every(c => c.plot) && charts[3].plot?.scales.y.distr === 3 && charts[3].plot.scales.y.min < 32 && charts[3].plot.scales.y.max > 350`)
	for i, css := range []string{"work", "latency"} {
		tab.Drawn(t, fmt.Sprintf("curved[%d].plot.ctx.canvas", i), css)
	}
	tab.Drawn(t, "charts[3].plot.ctx.canvas", "queue") // the fullest cells of the heat map
	tab.Drawn(t, "curved[1].plot.ctx.canvas", "work")  // the no-load latency
	tab.Drawn(t, "curved[1].plot.ctx.canvas", "queue") // the target
	tab.Views(t, "curves", 2600, `curved.every(c => c.plot?.width === c.place.clientWidth)`, *screenshots)
	tab.Wait(t, `apart(texts['target'], texts['no-load latency'])`) // on a phone
	tab.Eval(t, "location.hash = 'mails'", nil)
	tab.Wait(t, `document.getElementById('charts').innerText.replace(/\s+/g, ' ').startsWith('size 0 · in flight 0 backlog 0 · reserve 0')`)
	tab.Eval(t, "location.hash = 'search'", nil)
	tab.Wait(t, `document.getElementById('charts').innerText.startsWith('limit 8')`)
	tab.Silent(t, "the page")
}

var errFull = &weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull}

func TestIdentifiersNeedTheToken(t *testing.T) {
	var refusals dash.Refusals
	config := dash.Config{
		Read: dash.Limiters(), Refusals: &refusals, Public: true, Law: func(string, law.Law) error { return nil },
		Tenants: func() []weir.Snapshot { return []weir.Snapshot{{Name: "acme"}} },
	}
	open := newDash(t, config)
	config.Token = secret
	d := newDash(t, config)
	refusals.Add(t.Context(), "no refusal", errors.New("x"))
	refusals.Add(weir.WithTenant(t.Context(), "acme"), "r-1", fmt.Errorf("wrapped: %w", errFull))
	events := func(header ...string) string {
		return read(t, ask(t, d, "GET", "http://localhost/events", "", header...))
	}
	for what, header := range map[string][]string{
		"nothing":       nil,
		"another token": {"Authorization", "Bearer " + token + "x"},
	} {
		if text := events(header...); strings.Contains(text, "r-1") || strings.Contains(text, "acme") || !strings.Contains(text, `{"login":true,"law":false,"shadow":false}`) {
			t.Errorf("with %s: %s", what, text)
		}
	}
	text := read(t, ask(t, open, "GET", "http://localhost/events", ""))
	if strings.Contains(text, "r-1") || strings.Contains(text, "acme") || !strings.Contains(text, `{"login":false,"law":false,"shadow":false}`) {
		t.Errorf("where there is no token: %s", text)
	}
	text = events("Authorization", "Bearer "+token)
	if !strings.Contains(text, `"id":"r-1","limiter":"search","reason":"queue full","tenant":"acme"`) || strings.Contains(text, "no refusal") || !strings.Contains(text, `{"login":false,"law":true,"shadow":false}`) {
		t.Errorf("with the token: %s", text)
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	var refusals dash.Refusals
	d := newDash(t, dash.Config{Read: dash.Limiters(), Refusals: &refusals, Token: secret})
	for i := range 1000 {
		refusals.Add(t.Context(), fmt.Sprintf("r-%03d", i), errFull)
	}
	long := strings.Repeat("x", 1<<20)
	refusals.Add(weir.WithTenant(context.Background(), long), long, &weir.RefusedError{Limiter: long})
	if refusals.String() != "1001 refusals" {
		t.Error(&refusals)
	}
	text := read(t, ask(t, d, "GET", "http://localhost/events", "", "Authorization", "Bearer "+token))
	if n := strings.Count(text, `"id":`); n != 256 || !strings.Contains(text, "r-999") || strings.Contains(text, "r-744") || len(text) > 64<<10 {
		t.Errorf("%d requests in %d bytes", n, len(text))
	}
}

// A recording has tenants and identifiers if its recorder had the token. Where a dashboard has a
// token, they need it again.
func TestTenantsAndIdentifiersOfARecording(t *testing.T) {
	recorded := `{"weir":"recording","version":1}
{"overview":{"limiters":[{"name":"acme","tenant":true}]}}
{"details":{"name":"acme","whole":true,"points":[[1772600400000,20,9,0,0,40,88.5,100,100,0]]}}
{"details":{"name":"search","whole":true,"points":[[1772600400000,20,9,0,0,40,88.5,100,100,0]]}}
{"requests":[{"at":1772600400000,"id":"r-1","limiter":"search","reason":"queue full"}]}
`
	for what, c := range map[string]struct {
		dash.Config
		want bool
	}{
		"of one's own": {dash.Config{Public: true}, true},
		"with a token": {dash.Config{Public: true, Token: secret}, false},
	} {
		d := must.Have(dash.Replay(strings.NewReader(recorded), c.Config))(t)
		text := read(t, ask(t, d, "GET", "http://localhost/events?all=1&limiter=acme", ""))
		for range 256 { // each of them leaves
			if got := ask(t, d, "GET", "http://localhost/events", ""); got.StatusCode != 200 {
				t.Fatalf("%s: %d", what, got.StatusCode)
			}
		}
		if strings.Contains(text, "r-1") != c.want || strings.Contains(text, "acme") != c.want || !strings.Contains(text, `{"name":"search","whole":true`) {
			t.Errorf("%s: %s", what, text)
		}
	}
}
