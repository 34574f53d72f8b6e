package proxy

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// An operator pins a limit on the dashboard, and finds there why a request was refused. Without the
// token, the page of a loopback address only shows limiters and upstreams.
func TestOperatorsPinAndFindRequestsOnTheDashboard(t *testing.T) {
	const token = "0123456789abcdef"
	secret := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(secret, []byte(token), 0o600))
	a, release := named(t, "a")
	r := startAt(t, "listeners: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\", token: "+secret+"}\n"+file(a, ""))
	call := func(method, path, form, token string) *http.Response {
		t.Helper()
		request := must.Have(http.NewRequestWithContext(t.Context(), method, "http://"+r.admin+"/-/weir/dash/"+path, strings.NewReader(form)))(t)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Authorization", "Bearer "+token)
		answer := must.Have(http.DefaultClient.Do(request))(t)
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	pin := func(limit, token string) (status int, body string) {
		answer := call("POST", "change", url.Values{"limiter": {"api"}, "law": {"fixed(" + limit + ")"}}.Encode(), token)
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	// shown is the part of the events before the second overview.
	shown := func(token string) string {
		var text strings.Builder
		lines := bufio.NewScanner(call("GET", "events", "", token).Body)
		for overviews := 0; lines.Scan(); {
			if lines.Text() == "event: overview" {
				if overviews++; overviews == 2 {
					break
				}
			}
			text.WriteString(lines.Text() + "\n")
		}
		return text.String()
	}
	if status, body := pin("1", "wrong"); status != 401 {
		t.Errorf("pinned without the token: %d %s", status, body)
	}
	if status, body := pin("3000000000", token); status != 422 {
		t.Errorf("pinned far too high: %d %s", status, body)
	}
	if status, body := pin("1", token); status != 204 {
		t.Fatalf("not pinned: %d %s", status, body)
	}
	held := make(chan struct{})
	go func() {
		defer close(held)
		r.get("/hold")
	}()
	defer func() {
		release()
		<-held
	}()
	must.Happen(t, "the slot is taken", func() bool { return r.Snapshot().Total.InFlight == 1 })
	answer := must.Have(http.Get("http://" + r.address + "/"))(t)
	answer.Body.Close()
	if answer.StatusCode != 503 {
		t.Fatalf("status %d beside a request that takes the only slot", answer.StatusCode)
	}
	want := `"id":"` + answer.Header.Get("X-Request-Id") + `","limiter":"api","reason":`
	if text := shown(token); !strings.Contains(text, want) {
		t.Errorf("no %s in %s", want, text)
	}
	if text := shown(""); strings.Contains(text, `"id":`) || !strings.Contains(text, `{"name":"upstream`) || !strings.Contains(text, "in rotation, 1 in flight, 0 of 1 failed") {
		t.Errorf("without the token: %s", text)
	}
	if answer := call("POST", "change", "limiter=api&law=", token); answer.StatusCode != 204 {
		t.Errorf("not unpinned: %s", answer.Status)
	}
	for _, law := range []string{"law=\"fixed(limit=1)\" shadow=false", "law=setpoint shadow=false"} {
		if want := `msg="changed by an operator" compartment=api ` + law; !strings.Contains(r.said.String(), want) {
			t.Errorf("no %s in %s", want, r.said)
		}
	}
	if laws := r.state()["laws"]; laws != nil {
		t.Errorf("still pinned: %v", laws)
	}
}

// A reload with the token in another file ends the streams of those with the old token. Any other
// leaves them alone, and what the dashboard has read.
func TestReloadEndsTheStreamsOfTheDashboard(t *testing.T) {
	dir := t.TempDir()
	a, _ := named(t, "a")
	with := func(token string) string {
		path := filepath.Join(dir, token)
		must.Do(t, os.WriteFile(path, []byte(token), 0o600))
		return "listeners: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\", token: " + path + "}\n" + file(a, "")
	}
	r := startAt(t, with("0123456789abcdef"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request := must.Have(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.admin+"/-/weir/dash/events", http.NoBody))(t)
	request.Header.Set("Authorization", "Bearer 0123456789abcdef")
	answer := must.Have(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	in := bufio.NewScanner(answer.Body)
	await := func(line string) {
		for in.Scan() && in.Text() != line { // nothing else
		}
		if in.Text() != line {
			t.Fatalf("the stream ended: want %s", line)
		}
	}
	await("event: overview")
	r.write(with("0123456789abcdef") + "log: {decisions: false}\n")
	must.Do(t, r.Reload())
	await("event: overview")
	await("event: overview")
	r.write(with("fedcba9876543210"))
	must.Do(t, r.Reload())
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Errorf("%v, want the end of the stream", err)
	}
}
