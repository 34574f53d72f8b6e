package upstream

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
)

// failuresOf sends a request to a fake, and returns the number of counted failures.
func failuresOf(t *testing.T, ctx context.Context, req *http.Request, f fake) uint64 {
	t.Helper()
	p := fakes(t, 1)
	p.pretend(0, func(r *http.Request) (*http.Response, error) {
		gotConn(r)
		return f(r)
	})
	send(p, req.WithContext(ctx))
	if n := p.addresses[0].inFlight.Load(); n != 0 {
		t.Errorf("%d in flight after the end", n)
	}
	if counted := p.addresses[0].failed.Load(); uint64(counted) != p.addresses[0].failures.Load() {
		t.Error("a failure was counted and not held against the address")
	}
	return p.addresses[0].failures.Load()
}

// gotConn calls the trace as http.Transport does when it has a connection.
func gotConn(r *http.Request) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
}

func TestWhatIsAFailure(t *testing.T) {
	left, leave := context.WithCancel(context.Background())
	leave()
	gone, end := context.WithCancelCause(context.Background())
	end(weir.ErrExecutionTimeout)
	impatient, stop := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer stop()
	reset := func(r *http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for name, test := range map[string]struct {
		ctx  context.Context //nolint:containedctx // of the case
		f    fake
		want uint64
	}{
		"answer":                     {t.Context(), answer(http.StatusOK), 0},
		"error of the service":       {t.Context(), answer(http.StatusInternalServerError), 0},
		"too many requests":          {t.Context(), answer(http.StatusTooManyRequests), 0},
		"bad gateway":                {t.Context(), answer(http.StatusBadGateway), 1},
		"unavailable":                {t.Context(), answer(http.StatusServiceUnavailable), 1},
		"gateway timeout":            {t.Context(), answer(http.StatusGatewayTimeout), 1},
		"bad gateway, later":         {t.Context(), answer(http.StatusBadGateway, "Retry-After", "1"), 1},
		"sheds":                      {t.Context(), answer(http.StatusServiceUnavailable, "Retry-After", "1"), 0},
		"sheds by Weir":              {t.Context(), answer(http.StatusServiceUnavailable, "Weir-Refused", "limit reached"), 0},
		"unavailable, nonsense":      {t.Context(), answer(http.StatusServiceUnavailable, "Retry-After", "soon"), 1},
		"reset":                      {t.Context(), reset, 1},
		"client has left":            {left, reset, 0},
		"deadline of the client":     {impatient, reset, 0},
		"timeout of the route":       {gone, reset, 1},
		"no connection":              {t.Context(), func(*http.Request) (*http.Response, error) { return nil, &dialError{io.EOF} }, 1},
		"no connection, client left": {left, func(*http.Request) (*http.Response, error) { return nil, &dialError{io.EOF} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := failuresOf(t, test.ctx, httptest.NewRequest(http.MethodGet, "/", nil), test.f); got != test.want {
				t.Errorf("%d failures, want %d", got, test.want)
			}
		})
	}
}

func answer(status int, header ...string) fake {
	return func(*http.Request) (*http.Response, error) { return response(status, header...), nil }
}

// A request that net/http refuses to send is no failure of the address; otherwise a client
// could eject it.
func TestARequestThatCannotBeSentIsNoFailure(t *testing.T) {
	p, _ := started(t, defaults("http://127.0.0.1:1"))
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.Header["Bad\nName"] = []string{"x"}
	if _, err := send(p, req); err == nil {
		t.Fatal("a request with an invalid header was sent")
	}
	if s := p.Snapshot()[0]; s.Failures != 0 || s.InFlight != 0 {
		t.Errorf("want no failure and nothing in flight: %+v", s)
	}
}

func TestABodyThatCannotBeReadIsNoFailure(t *testing.T) {
	p := fakes(t, 1)
	p.pretend(0, func(r *http.Request) (*http.Response, error) {
		gotConn(r)
		return nil, io.ErrUnexpectedEOF
	})
	for failures, failed := range []bool{true, false} {
		if _, _, err := p.Send(t.Context(), httptest.NewRequest(http.MethodPost, "/", nil), caller{bodyFailed: failed}); err == nil {
			t.Fatal("no error")
		}
		if s := p.Snapshot()[0]; s.Failures != uint64(failures) {
			t.Errorf("body failed %v: %+v", failed, s)
		}
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	now := time.Now().UTC()
	date := func(in time.Duration) string { return now.Add(in).Format(http.TimeFormat) }
	for given, want := range map[string]string{
		"5":                        "5",
		"60":                       "60",
		"61":                       "60",
		"999999999999999999999999": "60",
		"0":                        "0",
		"007":                      "7",
		"-1":                       "",
		"1.5":                      "",
		"soon":                     "",
		"":                         "",
		date(20 * time.Second):     "20",
		date(24 * time.Hour):       "60",
		date(-time.Hour):           "0",
	} {
		p := fakes(t, 1)
		p.pretend(0, answer(http.StatusServiceUnavailable, "Retry-After", given, "Date", date(0)))
		res := must.Have(roundTrip(p, httptest.NewRequest(http.MethodGet, "/", nil)))(t)
		res.Body.Close()
		if got := strings.Join(res.Header.Values("Retry-After"), ","); got != want {
			t.Errorf("Retry-After %q was passed on as %q, want %q", given, got, want)
		}
	}
}

func newPoolOf(t *testing.T, n int) (*Pool, *journal) {
	t.Helper()
	p := fakes(t, n)
	log := new(journal)
	p.log = slog.New(slog.NewTextHandler(log, nil))
	return p, log
}
