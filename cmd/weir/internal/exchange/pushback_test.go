package exchange

import (
	"io"
	"net/http"
	"testing"
)

// An upstream that refuses all requests is sent few for the time that it names, however it frames
// its answer.
func TestUpstreamThatRefusesAll(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"no body":        func(http.ResponseWriter) {},
		"known length":   func(w http.ResponseWriter) { _, _ = io.WriteString(w, "busy") },
		"unknown length": func(w http.ResponseWriter) { w.(http.Flusher).Flush(); _, _ = io.WriteString(w, "busy") },
	} {
		t.Run(name, func(t *testing.T) {
			rg := newRig(t, 4, false, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusServiceUnavailable)
				answer(w)
			}, nil)
			for range 33 {
				if status, _, err := rg.get("/"); status != http.StatusServiceUnavailable || err != nil {
					t.Fatalf("status %d, %v", status, err)
				}
			}
			if n := rg.shared.Counts().Refused["pushback"]; n != 1 {
				t.Errorf("%d requests were refused for pushback, want the 33rd", n)
			}
		})
	}
}
