package dash_test

import (
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

// The form is there if a limiter is shown, and its answer speaks of that limiter.
func TestFormToPinALimit(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	a, b := weir.Must(weir.New(weir.Config{Name: "a"})), weir.Must(weir.New(weir.Config{Name: "b"}))
	slots := must.Have(capacity.New(capacity.Vector{"slots": 6}))(t)
	mails := must.Have(pool.New(pool.Config{Capacity: slots, Source: pool.Slice(nil)}))(t)
	var refusals dash.Refusals
	refusals.Add(t.Context(), "r-1", errFull)
	config := dash.Config{
		Read: dash.Limiters(a, b), Pools: map[string]*pool.Pool{"mails": mails}, Token: secret, Refusals: &refusals,
		Pin: func(string, *int) error { return nil },
	}
	at, stop := serve(t, "127.0.0.1:0", newDash(t, config))
	tab := chromium.Start(t).Tab(t)
	tab.Open(t, "http://"+at+"/")
	tab.Errors() // Chromium complains about the status 401
	tab.Follow(t, `document.querySelector('input').value = '`+token+`'; document.querySelector('form').submit()`)
	const hidden, answer = `document.getElementById('pin').hidden`, `document.getElementById('pinned').textContent`
	choose := func(name string) {
		t.Helper()
		tab.Eval(t, `location.hash = '`+name+`'`, nil)
		tab.Wait(t, `shown === '`+name+`'`)
	}
	pin := func() {
		t.Helper()
		tab.Eval(t, `(document.getElementById('pin').elements.limit.value = 5, document.querySelector('#pin button').click())`, nil)
	}

	tab.Wait(t, `document.getElementById('connection')?.textContent === 'Live' && shown === 'a'`)
	tab.Wait(t, `!`+hidden)
	pin()
	tab.Wait(t, answer+` === 'Pinned at 5.'`)
	choose("b")
	tab.Wait(t, answer+` === ''`)
	choose("mails")
	tab.Wait(t, hidden)
	choose("b")
	tab.Wait(t, `!`+hidden)

	// So it is before there is a limiter.
	tab.Eval(t, `(shown = undefined, access({login: false, pin: true}))`, nil)
	tab.Wait(t, hidden)
	choose("a")
	tab.Wait(t, `!`+hidden)

	// Without the token neither the form nor the refused requests stay.
	tab.Wait(t, `!document.getElementById('requests').hidden`)
	tab.Eval(t, `access({login: true, pin: false})`, nil)
	tab.Wait(t, hidden+` && document.getElementById('requests').hidden`)
	for _, complaint := range tab.Errors() {
		t.Errorf("in the console: %s", complaint)
	}
	stop()
	pin()
	tab.Wait(t, answer+`.startsWith('The dashboard does not answer: ')`)
}
