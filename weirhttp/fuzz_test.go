package weirhttp_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

// FuzzRetryAfter: whatever a server says, a retry comes after MaxWait, twice, at the latest, or not
// at all.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{
		"", "0", "5", "-1", "1e3", "99999999999999999999", "Fri, 31 Dec 2999 23:59:59 GMT",
		"Sat, 01 Jan 2000 00:00:05 GMT", "Saturday, 01-Jan-00 00:00:05 GMT",
	} {
		f.Add(seed, "Sat, 01 Jan 2000 00:00:00 GMT")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, after, date string) {
		synctest.Test(t, func(t *testing.T) {
			refusal := refuses(http.StatusServiceUnavailable, after)
			refusal.Header.Set("Date", date)
			d := &downstream{answers: []any{refusal}}
			res := must.Have((&http.Client{Transport: weirhttp.RetryTransport(d, newClient(t, retry.Config{MaxWait: 10 * time.Second}))}).Get("http://x/"))(t)
			res.Body.Close()
			if len(d.at) > 1 && d.at[1].Sub(d.at[0]) > 20*time.Second {
				t.Errorf("Retry-After %q: waited for %v", after, d.at[1].Sub(d.at[0]))
			}
			if again := len(d.at) == 2; again != (res.StatusCode == http.StatusOK) {
				t.Errorf("Retry-After %q: status %d after %d attempts", after, res.StatusCode, len(d.at))
			}
		})
	})
}

// FuzzTrust: whatever a client sends, the handler runs, with one of the priorities and within a
// day.
func FuzzTrust(f *testing.F) {
	for _, seed := range []string{"", "critical", "LOW", "-2", "0", "86400000", "9223372036854775807", "\x00"} {
		f.Add(seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, priority, timeout, attempt string) {
		synctest.Test(t, func(t *testing.T) {
			got := behindTrust(true, t.Context(), http.Header{
				weirhttp.PriorityHeader: {priority}, weirhttp.TimeoutHeader: {timeout},
				weirhttp.AttemptHeader: {attempt},
			})
			if got.priority < weir.PriorityCritical || got.priority > weir.PriorityLow || got.left < -1 || got.left > 24*time.Hour ||
				got.headers != 3 {
				t.Errorf("%+v", got)
			}
		})
	})
}
