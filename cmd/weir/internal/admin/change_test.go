package admin

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/law"
)

func TestChanges(t *testing.T) {
	p := newProxied(t)
	at := serve(t, p.Proxy, config.Admin{Token: tokenFile(t, secret)}, "tcp", "127.0.0.1:0")
	change := func(path, body string, want int, says string) {
		t.Helper()
		status, got, _ := ask(t, at, call{method: http.MethodPost, path: path, body: body, header: with})
		if status != want || !strings.Contains(got, says) {
			t.Errorf("%s %s: %d %s, want %d %s", path, body, status, got, want, says)
		}
	}
	change("/-/weir/limits/api", `{"pin": 20}`, 200, `"until": "the next reload or restart"`)
	if p.law != (law.Fixed{Limit: 20}) {
		t.Errorf("pinned to %v", p.law)
	}
	change("/-/weir/limits/api", `{"pin": null}`, 200, `"pin": null`)
	if p.law != nil {
		t.Errorf("still pinned to %v", p.law)
	}
	change("/-/weir/limits/a%2Fb", `{"pin": 1}`, 200, `"a/b"`)
	change("/-/weir/limits/other", `{"pin": 20}`, 404, "there is api")
	change("/-/weir/limits/api", `{"pin": 0}`, 400, "want 1 to 1000000000")
	change("/-/weir/limits/api", `{"pin": 1000000001}`, 400, "want 1 to 1000000000")

	change("/-/weir/shadow/api", `{"shadow": true}`, 200, `"shadow": true`)
	if !p.shadow {
		t.Error("not in shadow mode")
	}
	change("/-/weir/shadow/api", `{"shadow": false}`, 200, `"shadow": false`)
	if p.shadow {
		t.Error("still in shadow mode")
	}
	change("/-/weir/shadow/other", `{"shadow": true}`, 404, "there is api")
	change("/-/weir/shadow/api", `{"shadow": null}`, 400, "want true or false")

	change("/-/weir/reload", "", 200, `"reloaded": true`)
	change("/-/weir/reload", "", 422, "weir.yaml:3:7")

	for _, body := range []string{
		``, `{}`, `null`, `[]`, `20`, `{"pin": "20"}`, `{"pin": 1.5}`, `{"pin": 20, "x": 1}`, `{"limit": 20}`, `{"pin": 20} {}`, `{"pin": 1e99}`,
	} {
		change("/-/weir/limits/api", body, 400, `want {"pin": 20}`)
	}
	change("/-/weir/limits/api", `{"pin": `+strings.Repeat(" ", maxBody)+`20}`, 400, "too large")
}

func TestWhoMayChange(t *testing.T) {
	p := newProxied(t)
	open := serve(t, p.Proxy, config.Admin{}, "tcp", "127.0.0.1:0")
	at := serve(t, p.Proxy, config.Admin{Token: tokenFile(t, secret)}, "tcp", "127.0.0.1:0")
	but := func(more ...string) []string { return append(with[:len(with):len(with)], more...) }

	for _, c := range []struct {
		path, body string
	}{{"/-/weir/reload", ""}, {"/-/weir/limits/api", `{"pin": 1}`}, {"/-/weir/shadow/api", `{"shadow": true}`}} {
		for what, by := range map[string]struct {
			header []string
			want   int
		}{
			"nothing":           {nil, 401},
			"no token":          {with[2:], 401},
			"no type":           {with[:2], 415},
			"a form":            {but("Content-Type", "text/plain"), 415},
			"a page elsewhere":  {but("Sec-Fetch-Site", "cross-site"), 403},
			"a page of a twin":  {but("Sec-Fetch-Site", "same-site"), 403},
			"an old browser":    {but("Origin", "http://attacker.example"), 403},
			"a page of ours":    {but("Sec-Fetch-Site", "same-origin", "Origin", "http://localhost"), 200},
			"type with charset": {but("Content-Type", "application/json; charset=utf-8"), 200},
		} {
			p.reloads = 0
			if status, body, _ := ask(t, at, call{method: http.MethodPost, path: c.path, body: c.body, header: by.header}); status != by.want {
				t.Errorf("%s: %s: %d %s, want %d", c.path, what, status, body, by.want)
			}
			if by.want != 200 && (p.reloads > 0 || p.law != nil && p.law != (law.Fixed{Limit: 1})) {
				t.Errorf("%s: %s: it was done", c.path, what)
			}
		}
		if status, body, _ := ask(t, open, call{method: http.MethodPost, path: c.path, body: c.body, header: with}); status != 403 || !strings.Contains(body, "set admin.token") {
			t.Errorf("%s: without a token: %d %s", c.path, status, body)
		}
		if status, _, _ := ask(t, at, call{path: c.path, header: with}); status != 404 && status != 405 {
			t.Errorf("GET %s: %d", c.path, status)
		}
	}
}
