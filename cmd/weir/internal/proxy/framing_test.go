package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestChunksOfATrustedProxyAreTheLast(t *testing.T) {
	a, _ := named(t, "a")
	for trusted, want := range map[string]bool{"[127.0.0.1]": true, "[192.0.2.1]": false} {
		r := startAt(t, strings.Replace(addresses, `"127.0.0.1:0"}]`, `"127.0.0.1:0", trusted: `+trusted+`}]`, 1)+file(a, ""))
		for _, test := range []struct {
			name   string
			length int64
			closes bool
		}{{"with its length", 4, false}, {"in chunks", -1, want}} {
			req, err := http.NewRequest(http.MethodPost, "http://"+r.address, strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = test.length
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.Close != test.closes {
				t.Errorf("trusted %s, %s: the connection closes: %v, want %v", trusted, test.name, answer.Close, test.closes)
			}
		}
	}
}

// What the proxy says of the connection and the request stands beside informational responses, and
// in the last one.
func TestEarlyHintsForgetNothing(t *testing.T) {
	for _, breaks := range []bool{false, true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			if breaks {
				panic(http.ErrAbortHandler)
			}
		}))
		defer server.Close()
		r := startAt(t, strings.Replace(addresses, `"127.0.0.1:0"}]`, `"127.0.0.1:0", trusted: [127.0.0.1]}]`, 1)+file(server.URL, ""))
		req, err := http.NewRequest(http.MethodPost, "http://"+r.address, io.NopCloser(strings.NewReader("body")))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if !answer.Close || answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("breaks %v: %s, the connection closes: %v, header %v", breaks, answer.Status, answer.Close, answer.Header)
		}
	}
}
