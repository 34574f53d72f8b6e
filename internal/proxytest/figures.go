package proxytest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// figures are the sums of the metrics of weir's limiters, without limiters that hold no slot
// for the upstream, such as the caps on streams.
type figures struct {
	limit, inFlight, queued      float64
	admitted, refused, cancelled float64
	completed                    float64 // with any outcome
}

// asked is the number of decided requests.
func (f figures) asked() float64 { return f.admitted + f.refused + f.cancelled }

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

// figures reads the metrics of weir.
func (p peer) figures(t testing.TB) figures {
	t.Helper()
	if status, text := get(t, p.admin+"/metrics"); status == http.StatusOK {
		return fromMetrics(t, text)
	}
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
	f := figures{limit: s.Limit, inFlight: s.InFlight, queued: s.Queued, admitted: s.Admitted, cancelled: s.Cancelled, completed: s.Completed}
	for _, n := range s.Refused {
		f.refused += n
	}
	return f
}

// sample is a line of Prometheus' text format.
var sample = regexp.MustCompile(`^(\w+)(\{.*\})? (\S+)$`)

// apart matches the limiters that only count streams or exempt requests, and a set's key for
// all unknown keys.
var apart = regexp.MustCompile(`(limiter|key)="(streams|websockets|events|exempt|\(overflow\))"`)

// fromMetrics sums the compartments. Without a set, each is a limiter of its own.
func fromMetrics(t testing.TB, text string) figures {
	t.Helper()
	if keys, found := sumOf(t, text, "weir_key_"); found {
		return keys
	}
	all, _ := sumOf(t, text, "weir_")
	return all
}

// sumOf sums the metrics whose names have the prefix, and reports whether there are any.
func sumOf(t testing.TB, text, prefix string) (f figures, found bool) {
	t.Helper()
	into := map[string]*float64{
		"limit": &f.limit, "in_flight": &f.inFlight, "queued": &f.queued, "admitted_total": &f.admitted,
		"refused_total": &f.refused, "cancelled_total": &f.cancelled, "completed_total": &f.completed,
	}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		m := sample.FindStringSubmatch(lines.Text())
		if m == nil || apart.MatchString(m[2]) {
			continue
		}
		name, ours := strings.CutPrefix(m[1], prefix)
		if sum := into[name]; ours && sum != nil {
			value, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				t.Fatalf("/metrics: %q: %v", lines.Text(), err)
			}
			*sum += value
			found = true
		}
	}
	return f, found
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
