package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Headers that the proxy adds to the response survive informational responses.
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
		if answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("breaks %v: %s, header %v", breaks, answer.Status, answer.Header)
		}
	}
}
