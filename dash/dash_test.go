package dash_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

// A leaver is a client that leaves after the first message of a stream.
type leaver struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l leaver) Flush() {
	if l.Body.Len() > 0 {
		l.leave()
	}
}

// ask sends a request, with pairs of names and values in its header.
func ask(t *testing.T, d http.Handler, method, target, body string, header ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded") // as of all forms
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := leaver{httptest.NewRecorder(), cancel}
	d.ServeHTTP(w, r)
	return w.Result()
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	text := must.Have(io.ReadAll(r.Body))(t)
	return string(text)
}

func TestNobodyLooksWithoutTheToken(t *testing.T) {
	d := newDash(t, dash.Config{Read: func() []weir.Snapshot { return []weir.Snapshot{{Name: "secret route"}} }, Token: secret, Hosts: []string{"Dash.example"}})
	form := url.Values{"token": {token}}.Encode()
	login := ask(t, d, "POST", "http://localhost/login", form)
	if login.StatusCode != 303 || login.Header.Get("Location") != "./" {
		t.Fatalf("login: %d, to %q", login.StatusCode, login.Header.Get("Location"))
	}
	set := login.Header.Get("Set-Cookie")
	if !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") || strings.Contains(set, "Secure") || strings.Contains(set, token) {
		t.Errorf("cookie %q", set)
	}
	if secure := ask(t, d, "POST", "https://localhost/login", form).Header.Get("Set-Cookie"); !strings.Contains(secure, "Secure") {
		t.Errorf("over TLS: %q", secure)
	}
	cookie, _, _ := strings.Cut(set, ";")
	name, _, _ := strings.Cut(cookie, "=")

	for what, c := range map[string]struct {
		host   string
		header []string
		want   int
	}{
		"nothing":           {"localhost", nil, 401},
		"the cookie":        {"localhost", []string{"Cookie", cookie}, 200},
		"another cookie":    {"localhost", []string{"Cookie", cookie + "0"}, 401},
		"the token in it":   {"localhost", []string{"Cookie", name + "=" + token}, 401},
		"two cookies":       {"localhost", []string{"Cookie", cookie + "; weir_dash_01234567=" + token}, 200},
		"the token":         {"127.0.0.1:8080", []string{"Authorization", "Bearer " + token}, 200},
		"another token":     {"localhost", []string{"Authorization", "Bearer " + token + "x"}, 401},
		"no token":          {"localhost", []string{"Authorization", "Bearer "}, 401},
		"a name of Hosts":   {"dash.EXAMPLE:443", []string{"Cookie", cookie}, 200},
		"a name like it":    {"dash.example.attacker.example", []string{"Cookie", cookie}, 421},
		"DNS rebinding":     {"attacker.example", []string{"Cookie", cookie}, 421},
		"any other address": {"192.0.2.1", []string{"Cookie", cookie}, 421},
	} {
		for _, path := range []string{"/", "/events"} {
			got := ask(t, d, "GET", "http://"+c.host+path, "", c.header...)
			text := read(t, got)
			if got.StatusCode != c.want || path == "/events" && strings.Contains(text, "secret route") != (c.want == 200) {
				t.Errorf("%s: %s: %d %.80s, want %d", what, path, got.StatusCode, text, c.want)
			}
			if h := got.Header; !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %s: header %v", what, path, h)
			}
		}
	}

	for what, c := range map[string]struct {
		body   string
		header []string
		want   int
	}{
		"another token":    {"token=" + token + "x", nil, 401},
		"none":             {"", nil, 401},
		"a huge one":       {"token=" + strings.Repeat("x", 1<<20), nil, 401},
		"a huge form":      {form + "&more=" + strings.Repeat("x", 1<<20), nil, 401},
		"a foreign page":   {form, []string{"Origin", "http://attacker.example"}, 403},
		"another site":     {form, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a page of itself": {form, []string{"Sec-Fetch-Site", "same-origin"}, 303},
	} {
		got := ask(t, d, "POST", "http://localhost/login", c.body, c.header...)
		if got.StatusCode != c.want || (got.Header.Get("Set-Cookie") != "") != (c.want == 303) {
			t.Errorf("login with %s: %d, cookie %q, want %d", what, got.StatusCode, got.Header.Get("Set-Cookie"), c.want)
		}
	}
}

func TestAnotherTokenEndsTheSession(t *testing.T) {
	current, broken := token, error(nil)
	d := newDash(t, dash.Config{Read: dash.Limiters(), Token: func() (string, error) { return current, broken }})
	login := ask(t, d, "POST", "http://localhost/login", "token="+token)
	cookie, _, _ := strings.Cut(login.Header.Get("Set-Cookie"), ";")
	status := func() int { return ask(t, d, "GET", "http://localhost/", "", "Cookie", cookie).StatusCode }
	if got := status(); got != 200 {
		t.Fatalf("with the cookie: %d", got)
	}
	for what, change := range map[string]func(){
		"another token":  func() { current, broken = strings.Repeat("y", 16), nil },
		"a short token":  func() { current, broken = "short", nil },
		"no token":       func() { current, broken = "", nil },
		"a broken token": func() { current, broken = token, errors.New("gone") },
	} {
		change()
		if got := status(); got != 401 {
			t.Errorf("%s: %d", what, got)
		}
		again := ask(t, d, "POST", "http://localhost/login", "token="+current)
		if usable := len(current) >= 16 && broken == nil; (again.StatusCode == 303) != usable {
			t.Errorf("login with %s: %d", what, again.StatusCode)
		}
	}
}

// Two dashboards of a machine, each on a port of its own, leave each other's sessions alone.
func TestTwoDashboardsOfAHost(t *testing.T) {
	jar := must.Have(cookiejar.New(nil))(t)
	client := &http.Client{Jar: jar}
	var pages []string
	for _, token := range []string{token, strings.Repeat("y", 16)} {
		at, _ := serve(t, "127.0.0.1:0", newDash(t, dash.Config{Read: dash.Limiters(), Token: func() (string, error) { return token, nil }}))
		pages = append(pages, "http://"+at+"/")
		answer := must.Have(client.PostForm("http://"+at+"/login", url.Values{"token": {token}}))(t)
		answer.Body.Close()
	}
	for _, page := range pages {
		answer := must.Have(client.Get(page))(t)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s after both have their token", page, answer.Status)
		}
	}
}

func TestWrongConfigurations(t *testing.T) {
	for want, c := range map[string]dash.Config{
		"Read is nil":           {Public: true},
		"Token is nil":          {Read: dash.Limiters()},
		"want 16 or more":       {Read: dash.Limiters(), Token: func() (string, error) { return "short", nil }},
		`Pools["mails"] is nil`: {Pools: map[string]*pool.Pool{"mails": nil}, Public: true},
		"no such secret at all": {Read: dash.Limiters(), Token: func() (string, error) { return "", errors.New("no such secret at all") }},
	} {
		if _, err := dash.New(c); !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestPublicDashboardStreams(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	d := newDash(t, dash.Config{Read: dash.Limiters(lim), Public: true})
	at, _ := serve(t, "127.0.0.1:0", d)
	got := must.Have(http.Get("http://" + at + "/events?limiter=search"))(t)
	defer got.Body.Close()
	if kind := got.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("type %q", kind)
	}
	lines := bufio.NewScanner(got.Body)
	for n := 0; n < 3 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "event: details") {
			n++ // the past, and two readings
		}
	}
	d.Close()
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the end of the stream: %v", err)
	}
	if got := ask(t, d, "POST", "http://localhost/login", ""); got.StatusCode != 404 {
		t.Errorf("login without a token: %d", got.StatusCode)
	}
}

// A middleware may hide that its writer flushes. The answer says so, and is no stream that ends.
func TestWriterThatDoesNotFlush(t *testing.T) {
	d := newDash(t, dash.Config{Read: dash.Limiters(), Public: true})
	answer := httptest.NewRecorder()
	d.ServeHTTP(struct{ http.ResponseWriter }{answer}, httptest.NewRequest(http.MethodGet, "http://localhost/events", nil))
	if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), "Unwrap") || answer.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d %s %s", answer.Code, answer.Header(), answer.Body)
	}
}

func TestThousandConnectionsAreBounded(t *testing.T) {
	d := newDash(t, dash.Config{Read: dash.Limiters(), Public: true})
	at, _ := serve(t, "127.0.0.1:0", d)
	client := &http.Client{Transport: &http.Transport{}}
	counts := map[int]int{}
	for range 1000 {
		got := must.Have(client.Get("http://" + at + "/events"))(t)
		defer got.Body.Close()
		if counts[got.StatusCode]++; got.StatusCode == 503 && got.Header.Get("Retry-After") == "" {
			t.Fatal("refused without Retry-After")
		}
	}
	if counts[200] != 256 || counts[503] != 744 {
		t.Errorf("answers by status: %v", counts)
	}
}

// mostBytes is the most that the page may have with its parts.
const mostBytes = 150_000

func TestPageIsLight(t *testing.T) {
	d := newDash(t, dash.Config{Read: dash.Limiters(), Public: true})
	total := 0
	for _, path := range []string{"/", "/dash.js", "/dash.css", "/uPlot.iife.min.js", "/uPlot.min.css"} {
		got := ask(t, d, "GET", "http://localhost"+path, "")
		if got.StatusCode != 200 {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
		total += len(read(t, got))
	}
	if t.Logf("%d bytes", total); total > mostBytes {
		t.Errorf("%d bytes, want at most %d", total, mostBytes)
	}
}
