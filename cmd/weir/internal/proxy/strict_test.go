package proxy

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		target      string
		underscores bool
		status      int
		passed      string
	}{
		{"/", false, 200, ""},
		{"/", true, 200, "10.0.0.1"},
		{"http://h/", false, 200, ""},
		{"HTTPS://h/", false, 200, ""},
		{"file:///etc/passwd", false, 400, ""},
		{"ftp://h/", true, 400, ""},
	} {
		var passed string
		h := strict(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			passed = r.Header.Get("X_forwarded_for")
			if r.Header.Get("X-Kept") == "" {
				t.Error("a header without an underscore was dropped")
			}
		}), c.underscores)
		r := httptest.NewRequest(http.MethodGet, c.target, nil)
		r.Header.Set("X_Forwarded_For", "10.0.0.1")
		r.Header.Set("X-Kept", "yes")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || passed != c.passed {
			t.Errorf("%s, underscores %v: status %d, passed %q, want %d and %q", c.target, c.underscores, w.Code, passed, c.status, c.passed)
		}
	}
}
