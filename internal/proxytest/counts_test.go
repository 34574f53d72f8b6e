package proxytest

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// counts are the sums of weir's limiters, without limiters that hold no slot
// for the upstream, such as the caps on streams.
type counts struct {
	limit, inFlight, queued      float64
	admitted, refused, cancelled float64
	completed                    float64 // with any outcome
}

// asked is the number of decided requests.
func (f counts) asked() float64 { return f.admitted + f.refused + f.cancelled }

// get fetches a page of the admin address.
func get(t testing.TB, url string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// counts reads the sums of weir's compartments.
func (p peer) counts(t testing.TB) counts {
	t.Helper()
	status, text := get(t, p.admin+"/-/weir/snapshot")
	var s struct {
		Limit     float64            `json:"limit"`
		InFlight  float64            `json:"in_flight"`
		Queued    float64            `json:"queued"`
		Admitted  float64            `json:"admitted"`
		Cancelled float64            `json:"cancelled"`
		Completed float64            `json:"completed"`
		Refused   map[string]float64 `json:"refused"`
	}
	if err := json.Unmarshal([]byte(text), &s); status != http.StatusOK || err != nil {
		t.Fatalf("weir's snapshot: status %d, %v", status, err)
	}
	f := counts{limit: s.Limit, inFlight: s.InFlight, queued: s.Queued, admitted: s.Admitted, cancelled: s.Cancelled, completed: s.Completed}
	for _, n := range s.Refused {
		f.refused += n
	}
	return f
}

// seen returns how often the upstream received each request.
func (p peer) seen(t testing.TB) (times map[string]int) {
	t.Helper()
	status, text := get(t, p.url+"/-/seen")
	if err := json.Unmarshal([]byte(text), &times); status != http.StatusOK || err != nil {
		t.Fatalf("/-/seen: status %d, %v", status, err)
	}
	return times
}
