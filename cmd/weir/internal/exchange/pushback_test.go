package exchange

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// An upstream that refuses all requests is sent few for the time that it names, however it frames
// its answer.
func TestUpstreamThatRefusesAll(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter){
		"no body":        func(http.ResponseWriter) {},
		"known length":   func(w http.ResponseWriter) { _, _ = io.WriteString(w, "busy") },
		"unknown length": func(w http.ResponseWriter) { w.(http.Flusher).Flush(); _, _ = io.WriteString(w, "busy") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each takes a second
			rg := newRig(t, 4, false, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusServiceUnavailable)
				answer(w)
			}, nil)
			began := time.Now()
			for rg.shared.Counts().Refused["pushback"] == 0 {
				if status, _, err := rg.get("/"); status != http.StatusServiceUnavailable || err != nil {
					t.Fatalf("status %d, %v", status, err)
				}
				if took := time.Since(began); took > 20*time.Second {
					t.Fatalf("no request was refused for pushback in %v", took)
				}
			}
		})
	}
}
