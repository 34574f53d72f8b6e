package proxytest

import (
	"net/http"
	"testing"
	"time"
)

// TestFaults lets an upstream break HTTP in every way it can: the client gets a clear status,
// or a body marked as broken, and the slot is released.
func TestFaults(t *testing.T) {
	trial(t)
	up := startUpstream(t, upstream{})
	// A short trial runs beside others, so a fault may take long to arrive.
	p := startWeir(t, up, "--timeout", either("300ms", "3s"), "--initial", "20")
	each := either(200, 10)
	tb := newTable(t, "an upstream that breaks HTTP", "fault", "requests", "seen by the upstream", "502", "504", "200", "body broken", "closed", "admitted", "completed")
	for _, f := range []struct {
		kind   string
		status int // for the client; 200 with a broken body if the header was sent
		broken bool
	}{
		{"hang", http.StatusGatewayTimeout, false},
		{"close", http.StatusBadGateway, false},
		{"header", http.StatusBadGateway, false},
		{"garbage", http.StatusBadGateway, false},
		{"two", http.StatusBadGateway, false},
		{"short", http.StatusOK, true},
		{"chunk", http.StatusOK, true},
		{"cut", http.StatusOK, true},
		{"reset", http.StatusOK, true},
		{"long", http.StatusOK, false}, // the excess is ignored
	} {
		before, saw := p.counts(t), p.total(t, up)
		// Slower than the limit, which starts at 20, fills with requests of 300 ms each.
		answers := openLoop{
			rate: 40, during: time.Duration(each) * time.Second / 40, timeout: 5 * time.Second, request: onceEach(t, p.url+"/fault/"+f.kind),
		}.run(t.Context())
		eventually(t, "the slots come back", func() bool { return p.counts(t).inFlight == 0 })
		after := p.counts(t)
		counts := map[string]int{}
		for _, a := range answers {
			wanted := a.status == f.status && (a.err != nil) == f.broken
			// A proxy may notice the fault before it forwards the header.
			early := f.broken && (a.status == http.StatusBadGateway && a.err == nil || a.status == 0)
			// Data after the end of an upstream's response may be read as the answer to the
			// next request.
			late := f.kind == "long" && a.status == http.StatusBadGateway
			if !wanted && !early && !late {
				t.Errorf("%s: status %d, %v; want %d, broken %v", f.kind, a.status, a.err, f.status, f.broken)
			}
			switch {
			case a.status == 0:
				counts["closed"]++
			case a.err != nil:
				counts["broken"]++
			default:
				counts[http.StatusText(a.status)]++
			}
		}
		tb.row(f.kind, len(answers), p.total(t, up)-saw, counts["Bad Gateway"], counts["Gateway Timeout"], counts["OK"], counts["broken"], counts["closed"],
			after.admitted-before.admitted, after.completed-before.completed)
		if n := float64(len(answers)); after.admitted-before.admitted != n || after.completed-before.completed != n {
			t.Errorf("%s: %v admitted, %v completed, want %v", f.kind, after.admitted-before.admitted, after.completed-before.completed, n)
		}
	}
}

// total is the number of named requests that the upstream received.
func (p peer) total(t testing.TB, up peer) (n int) {
	for _, times := range up.seen(t) {
		n += times
	}
	return n
}
