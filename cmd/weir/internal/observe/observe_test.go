package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/internal/locked"
	"github.com/weir-go/weir/internal/must"
)

// observed runs next as the proxy does.
func observed(access *slog.Logger, tracer *spans.Tracer, next func(http.ResponseWriter, *http.Request, *client.Identity)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := client.Identify(r, nil, tracer)
		x := Begin(w, id, access, tracer)
		if x == nil {
			next(w, r, id)
			return
		}
		returned := false
		defer func() { x.End(r, id, returned) }()
		next(x, r, id)
		returned = true
	})
}

func notFound(w http.ResponseWriter, r *http.Request, _ *client.Identity) { http.NotFound(w, r) }

// logged sends requests and raw texts to a real server, and returns the lines of the log.
func logged(t *testing.T, h func(http.ResponseWriter, *http.Request, *client.Identity), raw ...string) (lines []map[string]any) {
	t.Helper()
	out := new(locked.Buffer)
	logs := observed(slog.New(slog.NewJSONHandler(out, nil)), nil, h)
	var running sync.WaitGroup // Close waits for no hijacked connection
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		logs.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	for _, text := range raw {
		conn := must.Have(net.Dial("tcp", s.Listener.Addr().String()))(t)
		must.Have(io.WriteString(conn, text))(t)
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}
	s.Close()
	running.Wait()
	for line := range strings.Lines(out.String()) {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, got)
	}
	return lines
}

func get(path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n"
}

func TestAccess(t *testing.T) {
	lines := logged(t, func(w http.ResponseWriter, _ *http.Request, id *client.Identity) {
		id.Record = spans.Record{Route: "/search/{term}", Compartment: "search", Upstream: "http://10.0.0.9", Waited: 12 * time.Millisecond}
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	}, get("/search/tea?password=secret"))
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for key, want := range map[string]any{
		"msg": "request", "client": "127.0.0.1", "method": "GET", "host": "shop.example", "path": "/search/tea", "route": "/search/{term}",
		"compartment": "search", "status": 418.0, "bytes": 15.0, "wait": 0.012, "upstream": "http://10.0.0.9", "refused": nil, "trace_id": nil,
	} {
		if got := lines[0][key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if lines[0]["request_id"] == nil || lines[0]["duration"] == nil || lines[0]["time"] == nil {
		t.Errorf("%v", lines[0])
	}
}

func TestAccessOfOddRequests(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request, id *client.Identity) {
		switch r.URL.Path {
		case "/cut":
			panic(http.ErrAbortHandler)
		case "/refused":
			id.Record.Refused = &weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull}
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/hijacked":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		}
	}
	long := strings.Repeat("a", 5000)
	lines := logged(t, h, get("/cut"), get("/"), get("/refused"), get("/%0a%22x=1"), get("/"+long),
		"BREWCOFFEEANDTEAANDMILKANDSUGARANDHONEYANDLEMON / HTTP/1.1\r\nHost: "+long+"\r\nConnection: close\r\n\r\n", get("/hijacked"))
	want := []map[string]any{
		{"path": "/cut", "status": 0.0},
		{"path": "/", "status": 200.0, "bytes": 0.0},
		{"path": "/refused", "status": 503.0, "refused": "queue full"},
		{"path": "/%0a%22x=1"},
		{"path": "/" + long[:maxPath-1] + "..."},
		{"method": "BREWCOFFEEANDTEAANDMILKANDSUGARA...", "host": long[:maxHost] + "..."},
		{"path": "/hijacked", "status": 101.0},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d: %v", len(lines), len(want), lines)
	}
	for i := range want {
		for key, want := range want[i] {
			if lines[i][key] != want {
				t.Errorf("line %d: %s is %v, want %v", i, key, lines[i][key], want)
			}
		}
	}
}

// In text format, too, a request writes one line.
func TestNoLinesOfStrangers(t *testing.T) {
	out := new(bytes.Buffer)
	h := observed(slog.New(slog.NewTextHandler(out, nil)), nil, notFound)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Method, r.Host, r.URL.Path = "GET\nlevel=ERROR", "a\nlevel=ERROR\x1b[2J", "/\nlevel=ERROR\x1b[2J\u2028"
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got := out.String(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\u2028") || !strings.Contains(got, "status=404") {
		t.Errorf("%q", got)
	}
}

func TestSpans(t *testing.T) {
	got := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	}))
	defer collector.Close()
	tracer := spans.New(config.Trace{Endpoint: collector.URL, Sample: 1}, slog.New(slog.DiscardHandler))
	out := new(bytes.Buffer)
	h := observed(slog.New(slog.NewTextHandler(out, nil)), tracer, notFound)
	r := httptest.NewRequest(http.MethodGet, "/tea", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	h.ServeHTTP(httptest.NewRecorder(), r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tracer.Run(ctx)
	body := <-got
	for _, part := range []string{
		`"traceId":"0af7651916cd43dd8448eb211c80319c"`, `"parentSpanId":"b7ad6b7169203331"`, `{"key":"url.path","value":{"stringValue":"/tea"}}`,
		`{"key":"http.response.status_code","value":{"intValue":"404"}}`, `{"key":"client.address","value":{"stringValue":"192.0.2.1"}}`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
	if !strings.Contains(out.String(), "trace_id=0af7651916cd43dd8448eb211c80319c") {
		t.Error(out.String())
	}
}

func TestNothingToWrite(t *testing.T) {
	for what, access := range map[string]*slog.Logger{"none": nil, "a level above": slog.New(slog.NewTextHandler(panics{}, &slog.HandlerOptions{Level: slog.LevelWarn}))} {
		w := httptest.NewRecorder()
		observed(access, nil, notFound).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", what, w.Code)
		}
	}
}

type panics struct{}

func (panics) Write([]byte) (int, error) { panic("a line") }
