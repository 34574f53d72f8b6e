package proxy

import (
	"net/http"
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
