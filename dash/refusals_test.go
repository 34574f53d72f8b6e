package dash_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/must"
)

var errFull = &weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull}

func TestIdentifiersNeedTheToken(t *testing.T) {
	var refusals dash.Refusals
	d := newDash(t, dash.Config{Read: dash.Limiters(), Refusals: &refusals, Token: secret, Public: true})
	refusals.Add(t.Context(), "no refusal", errors.New("x"))
	refusals.Add(weir.WithTenant(t.Context(), "acme"), "r-1", fmt.Errorf("wrapped: %w", errFull))
	events := func(header ...string) string {
		return read(t, ask(t, d, "GET", "http://localhost/events", "", header...))
	}
	for what, header := range map[string][]string{
		"nothing":       nil,
		"another token": {"Authorization", "Bearer " + token + "x"},
	} {
		if text := events(header...); strings.Contains(text, "r-1") || strings.Contains(text, "acme") || !strings.Contains(text, `{"login":true,"pin":false}`) {
			t.Errorf("with %s: %s", what, text)
		}
	}
	text := events("Authorization", "Bearer "+token)
	if !strings.Contains(text, `"id":"r-1","limiter":"search","reason":"queue full","tenant":"acme"`) || strings.Contains(text, "no refusal") || !strings.Contains(text, `{"login":false,"pin":false}`) {
		t.Errorf("with the token: %s", text)
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	var refusals dash.Refusals
	d := newDash(t, dash.Config{Read: dash.Limiters(), Refusals: &refusals, Token: secret})
	for i := range 1000 {
		refusals.Add(t.Context(), fmt.Sprintf("r-%03d", i), errFull)
	}
	refusals.Add(context.Background(), strings.Repeat("x", 1<<20), errFull)
	if refusals.String() != "1001 refusals" {
		t.Error(&refusals)
	}
	text := read(t, ask(t, d, "GET", "http://localhost/events", "", "Authorization", "Bearer "+token))
	if n := strings.Count(text, `"id":`); n != 256 || !strings.Contains(text, "r-999") || strings.Contains(text, "r-744") || len(text) > 64<<10 {
		t.Errorf("%d requests in %d bytes", n, len(text))
	}
}

// A recording has identifiers if its recorder had the token. Where a dashboard has a token, they
// need it again.
func TestIdentifiersOfARecording(t *testing.T) {
	recorded := `{"weir":"recording","version":1}
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
		if text := read(t, ask(t, d, "GET", "http://localhost/events", "")); strings.Contains(text, "r-1") != c.want {
			t.Errorf("%s: %s", what, text)
		}
	}
}

func TestPinNeedsTheToken(t *testing.T) {
	var pinned []string
	config := dash.Config{Read: dash.Limiters(), Token: secret, Public: true, Pin: func(name string, limit *int) error {
		if name == "gone" {
			return errors.New("no such limiter")
		}
		text := "law"
		if limit != nil {
			text = fmt.Sprint(*limit)
		}
		pinned = append(pinned, name+" "+text)
		return nil
	}}
	d := newDash(t, config)
	login := ask(t, d, "POST", "http://localhost/login", "token="+token, "Content-Type", "application/x-www-form-urlencoded")
	cookie, _, _ := strings.Cut(login.Header.Get("Set-Cookie"), ";")
	for _, c := range []struct {
		what, body string
		header     []string
		status     int
	}{
		{"nothing", "limiter=a&limit=3", nil, 401},
		{"another token", "limiter=a&limit=3", []string{"Authorization", "Bearer " + token + "x"}, 401},
		{"a foreign page", "limiter=a&limit=3", []string{"Cookie", cookie, "Origin", "http://attacker.example"}, 403},
		{"another site", "limiter=a&limit=3", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 403},
		{"no limit", "limiter=a", []string{"Cookie", cookie}, 400},
		{"a huge form", "limiter=a&limit=&x=" + strings.Repeat("x", 1<<20), []string{"Cookie", cookie}, 400},
		{"a wrong limit", "limiter=a&limit=0", []string{"Cookie", cookie}, 400},
		{"an unknown limiter", "limiter=gone&limit=1", []string{"Cookie", cookie}, 422},
		{"the cookie", "limiter=a&limit=3", []string{"Cookie", cookie, "Origin", "http://localhost"}, 204},
		{"the token", "limiter=b&limit=", []string{"Authorization", "Bearer " + token}, 204},
	} {
		got := ask(t, d, "POST", "http://localhost/pin", c.body, append(c.header, "Content-Type", "application/x-www-form-urlencoded")...)
		if got.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", c.what, got.StatusCode, read(t, got), c.status)
		}
	}
	if got := ask(t, d, "POST", "http://attacker.example/pin", "limiter=a&limit=3", "Authorization", "Bearer "+token); got.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("DNS rebinding: %d", got.StatusCode)
	}
	if fmt.Sprint(pinned) != "[a 3 b law]" {
		t.Errorf("pinned %q", pinned)
	}
	config.Pin = nil
	if got := ask(t, newDash(t, config), "POST", "http://localhost/pin", "limiter=a&limit=3", "Authorization", "Bearer "+token); got.StatusCode != http.StatusNotFound {
		t.Errorf("without Pin: %d", got.StatusCode)
	}
}
