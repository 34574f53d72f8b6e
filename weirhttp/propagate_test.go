package weirhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

func TestPropagate(t *testing.T) {
	for name, c := range map[string]struct {
		priority weir.Priority
		timeout  time.Duration // 0 for none
		want     [2]string
	}{
		"nothing":         {weir.PriorityNormal, 0, [2]string{"", ""}},
		"critical":        {weir.PriorityCritical, 0, [2]string{"critical", ""}},
		"beyond":          {100, 0, [2]string{"low", ""}},
		"deadline":        {weir.PriorityNormal, 1500 * time.Microsecond, [2]string{"", "1"}},
		"deadline passed": {weir.PriorityHigh, -time.Hour, [2]string{"high", "0"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := weir.WithPriority(t.Context(), c.priority)
			if c.timeout != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.timeout)
				defer cancel()
			}
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/", nil)
			req.Header.Set(weirhttp.PriorityHeader, "spoofed") // came in from elsewhere
			req.Header.Add(weirhttp.TimeoutHeader, "spoofed")
			d := &downstream{}
			res := must.Have(weirhttp.Propagate(d).RoundTrip(req))(t)
			res.Body.Close()
			if got := [2]string{
				d.headers[0].Get(weirhttp.PriorityHeader), d.headers[0].Get(weirhttp.TimeoutHeader),
			}; got != c.want {
				t.Errorf("%s: priority and timeout %q, want %q", name, got, c.want)
			}
			if req.Header.Get(weirhttp.PriorityHeader) != "spoofed" {
				t.Errorf("%s: the caller's header was changed", name)
			}
		})
	}
	bare := (&http.Request{Method: http.MethodGet}).WithContext(weir.WithPriority(t.Context(), weir.PriorityHigh)) // no header
	must.Have(weirhttp.Propagate(&downstream{}).RoundTrip(bare))(t).Body.Close()
}

// seen is the view of a handler behind Trust of a request with the given headers.
type seen struct {
	priority weir.Priority
	left     time.Duration // until the deadline, -1 without one
	headers  int
}

func behindTrust(trusted bool, ctx context.Context, header http.Header) (s seen) {
	h := weirhttp.Trust(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s = seen{weir.PriorityFrom(r.Context()), -1, len(r.Header)}
		if deadline, ok := r.Context().Deadline(); ok {
			s.left = time.Until(deadline)
		}
	}), func(*http.Request) bool { return trusted })
	req := httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
	req.Header = header
	h.ServeHTTP(httptest.NewRecorder(), req)
	return s
}

func TestTrust(t *testing.T) {
	const p, ms, n = weirhttp.PriorityHeader, weirhttp.TimeoutHeader, weirhttp.AttemptHeader
	nothing := seen{weir.PriorityNormal, -1, 1}
	for name, c := range map[string]struct {
		header http.Header
		want   seen
	}{
		"nothing":          {http.Header{}, seen{weir.PriorityNormal, -1, 0}},
		"critical":         {http.Header{p: {"critical"}}, seen{weir.PriorityCritical, -1, 1}},
		"LOW":              {http.Header{p: {"LOW"}}, seen{weir.PriorityLow, -1, 1}},
		"two priorities":   {http.Header{p: {"high", "critical"}}, nothing},
		"time left":        {http.Header{ms: {"1500"}}, seen{weir.PriorityNormal, 1500 * time.Millisecond, 1}},
		"no time left":     {http.Header{ms: {"0"}}, seen{weir.PriorityNormal, 0, 1}},
		"more than a day":  {http.Header{ms: {"86400001"}}, nothing},
		"a critical retry": {http.Header{n: {"3"}, p: {"critical"}}, seen{weir.PriorityHigh, -1, 2}},
		"all": {http.Header{n: {"2"}, p: {"High"}, ms: {"10"}}, seen{
			weir.PriorityNormal, 10 * time.Millisecond, 3,
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := behindTrust(true, t.Context(), c.header.Clone()); got != c.want {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
			if got := behindTrust(false, t.Context(), c.header.Clone()); got != (seen{weir.PriorityNormal, -1, 0}) {
				t.Errorf("%s, not trusted: %+v, want nothing", name, got)
			}
		})
	}
}

// Values of an outer middleware hold where the client sends none, and the earlier deadline holds.
func TestTrustKeepsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(weir.WithPriority(t.Context(), weir.PriorityHigh), time.Second)
		defer cancel()
		header := http.Header{weirhttp.TimeoutHeader: {"5000"}}
		if got := behindTrust(true, ctx, header); got != (seen{weir.PriorityHigh, time.Second, 1}) {
			t.Errorf("%+v", got)
		}
		header.Set(weirhttp.AttemptHeader, "2")
		if got := behindTrust(true, ctx, header); got.priority != weir.PriorityNormal {
			t.Errorf("a retry has priority %v, want the next lower one, normal", got.priority)
		}
		if got := behindTrust(false, ctx, header); got != (seen{weir.PriorityHigh, time.Second, 0}) {
			t.Errorf("%+v", got)
		}
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
