package dash_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/chromium"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
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
		Law: func(string, law.Law) error { return nil },
	}
	at, stop := serve(t, "127.0.0.1:0", newDash(t, config))
	tab := chromium.Start(t)
	tab.Open(t, "http://"+at+"/")
	tab.Errors() // Chromium complains about the status 401
	tab.Follow(t, `document.querySelector('input').value = '`+token+`'; document.querySelector('form').submit()`)
	const hidden, answer = `document.getElementById('pin').hidden`, `document.getElementById('changed').textContent`
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
	tab.Eval(t, `(shown = undefined, access({login: false, law: true}))`, nil)
	tab.Wait(t, hidden)
	choose("a")
	tab.Wait(t, `!`+hidden)

	// Without the token neither the form nor the refused requests stay.
	tab.Wait(t, `!document.getElementById('requests').hidden`)
	tab.Eval(t, `access({login: true, law: false})`, nil)
	tab.Wait(t, hidden+` && document.getElementById('requests').hidden`)
	tab.Silent(t, "the page")
	stop()
	pin()
	tab.Wait(t, answer+`.startsWith('The dashboard does not answer: ')`)
}

func TestChangesNeedTheToken(t *testing.T) {
	var changed []string
	known := func(name, to string) error {
		if name == "gone" {
			return errors.New("no such limiter")
		}
		changed = append(changed, name+" "+to)
		return nil
	}
	config := dash.Config{
		Read: dash.Limiters(), Token: secret, Public: true,
		Law:    func(name string, l law.Law) error { return known(name, fmt.Sprint(l)) },
		Shadow: func(name string, on bool) error { return known(name, fmt.Sprint(on)) },
	}
	d := newDash(t, config)
	login := ask(t, d, "POST", "http://localhost/login", "token="+token)
	cookie, _, _ := strings.Cut(login.Header.Get("Set-Cookie"), ";")
	for _, c := range []struct {
		what, body string
		header     []string
		status     int
	}{
		{"nothing", "limiter=a&law=fixed(3)", nil, 401},
		{"another token", "limiter=a&law=fixed(3)", []string{"Authorization", "Bearer " + token + "x"}, 401},
		{"a foreign page", "limiter=a&law=fixed(3)", []string{"Cookie", cookie, "Origin", "http://attacker.example"}, 403},
		{"another site", "limiter=a&law=fixed(3)", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 403},
		{"no change", "limiter=a", []string{"Cookie", cookie}, 422},
		{"no limiter", "shadow=true", []string{"Cookie", cookie}, 422},
		{"two changes", "limiter=a&law=aimd&shadow=true", []string{"Cookie", cookie}, 422},
		{"a huge form", "limiter=a&law=&x=" + strings.Repeat("x", 1<<20), []string{"Cookie", cookie}, 422},
		{"a wrong limit", "limiter=a&law=fixed(-1)", []string{"Cookie", cookie}, 422},
		{"an unknown law", "limiter=a&law=x", []string{"Cookie", cookie}, 422},
		{"a wrong mode", "limiter=a&shadow=1", []string{"Cookie", cookie}, 422},
		{"an unknown limiter", "limiter=gone&law=fixed(1)", []string{"Cookie", cookie}, 422},
		{"the cookie", "limiter=a&law=fixed(3)", []string{"Cookie", cookie, "Origin", "http://localhost"}, 204},
		{"the token", "limiter=b&law=", []string{"Authorization", "Bearer " + token}, 204},
		{"shadow mode", "limiter=a&shadow=true", []string{"Cookie", cookie}, 204},
	} {
		got := ask(t, d, "POST", "http://localhost/change", c.body, c.header...)
		if got.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", c.what, got.StatusCode, read(t, got), c.status)
		}
	}
	if got := ask(t, d, "POST", "http://attacker.example/change", "limiter=a&law=fixed(3)", "Authorization", "Bearer "+token); got.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("DNS rebinding: %d", got.StatusCode)
	}
	if got := fmt.Sprintf("%q", changed); got != `["a fixed(limit=3)" "b <nil>" "a true"]` {
		t.Errorf("changed %s", got)
	}
	config.Law = nil
	if got := ask(t, newDash(t, config), "POST", "http://localhost/change", "limiter=a&law=aimd", "Authorization", "Bearer "+token); got.StatusCode != http.StatusNotFound {
		t.Errorf("without Law: %d", got.StatusCode)
	}
}
