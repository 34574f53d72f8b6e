package admin

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/listen"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/metrics"
)

func TestSnapshot(t *testing.T) {
	at := serve(t, newProxied(t).Proxy, config.Admin{}, "tcp", "127.0.0.1:0")
	_, body, header := ask(t, at, call{path: "/-/weir/snapshot"})
	var got struct {
		Total struct {
			Name    string
			Limit   int
			Refused map[string]int
		}
		Compartments map[string]struct{ Limit int }
	}
	must.Do(t, json.Unmarshal([]byte(body), &got))
	if got.Total.Name != "api" || got.Total.Limit != 7 || got.Total.Refused == nil || got.Compartments["api"].Limit != 7 {
		t.Errorf("%+v in\n%s", got, body)
	}
	if header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", header)
	}
}

func TestConfig(t *testing.T) {
	at := serve(t, newProxied(t).Proxy, config.Admin{}, "tcp", "127.0.0.1:0")
	_, body, header := ask(t, at, call{path: "/-/weir/config"})
	if !strings.Contains(body, "upstreams:\n") || !strings.Contains(body, "- http://127.0.0.1:9000") || header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%v\n%s", header, body)
	}
}

func TestProfiles(t *testing.T) {
	p := newProxied(t).Proxy
	for on, want := range map[bool]int{true: 200, false: 404} {
		at := serve(t, p, config.Admin{Pprof: on}, "tcp", "127.0.0.1:0")
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine", "/debug/pprof/cmdline", "/debug/pprof/symbol"} {
			if status, _, _ := ask(t, at, call{path: path}); status != want {
				t.Errorf("pprof %v: %s: %d, want %d", on, path, status, want)
			}
		}
	}
}

func figured() Figures {
	return Figures{
		Listeners: map[string]listen.Counts{":8080": {
			Open: 1, Accepted: 2, OverTotal: 3, OverAddress: 4, BadHeader: 5, Displaced: 6, Handshakes: 7, Resets: 8, Stalled: 9, Slow: 30,
		}},
		Exchanges: exchange.Counts{
			Received: 10, Answered: map[string]uint64{"2xx": 11}, Refused: map[string]uint64{"queue full": 12}, Left: 13, Broken: 14,
			Streamed: 15, Exchanged: 16, NoStream: 17, TimedOut: 18, Memory: 19, Files: 20, Stored: 31,
		},
		Upstreams: map[string][]upstream.Address{"api": {
			{URL: "http://127.0.0.1:9000", InFlight: 21, Requests: 22, Failures: 23, Healthy: true}, {URL: "\xff"},
		}},
		Fleet:   &Fleet{Name: "shop", Cap: 32, Members: 33, Share: 34, Leased: true, Epoch: 35, Error: "down"},
		Reloads: 24, ReloadsRefused: 25, Applied: time.Unix(26, 0), Spans: spans.Counts{Sent: 27, Dropped: 28, Failed: 29}, LogDropped: 36,
	}
}

func TestMetrics(t *testing.T) {
	probes := config.Probes{Metrics: true}
	p := newProxied(t).Proxy
	at := serve(t, p, config.Admin{}, "tcp", "127.0.0.1:0")
	_, body, _ := ask(t, at, call{path: "/metrics"})
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families := must.Have(parser.TextToMetricFamilies(strings.NewReader(body)))(t)
	for _, name := range []string{"weir_limit", "go_goroutines", "process_cpu_seconds_total"} {
		if families[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for name := range families {
		if base, counts := strings.CutSuffix(name, "_total"); counts && families[base] != nil {
			t.Errorf("%s and %s are one family in OpenMetrics", name, base)
		}
	}
	for _, s := range all {
		if families[s.name] == nil {
			t.Errorf("%s is missing", s.name)
		}
		if families[strings.TrimSuffix(s.name, "_total")] != nil && strings.HasSuffix(s.name, "_total") {
			t.Errorf("%s has the name of another in OpenMetrics", s.name)
		}
	}
	for _, line := range []string{
		`weir_proxy_connections{listener=":8080"} 1`, `weir_proxy_connections_accepted_total{listener=":8080"} 2`,
		`weir_proxy_connections_closed_total{listener=":8080",reason="too many"} 3`,
		`weir_proxy_connections_closed_total{listener=":8080",reason="too many of one address"} 4`,
		`weir_proxy_connections_closed_total{listener=":8080",reason="PROXY protocol"} 5`,
		`weir_proxy_connections_closed_total{listener=":8080",reason="idle"} 6`,
		`weir_proxy_connections_closed_total{listener=":8080",reason="TLS handshake"} 7`,
		`weir_proxy_resets_total{listener=":8080"} 8`, `weir_proxy_connections_closed_total{listener=":8080",reason="stalled"} 9`,
		`weir_proxy_connections_closed_total{listener=":8080",reason="slow"} 30`,
		`weir_proxy_requests_total 10`, `weir_proxy_responses_total{status="2xx"} 11`, `weir_proxy_refused_total{reason="queue full"} 12`,
		`weir_proxy_left_total 13`, `weir_proxy_broken_total 14`, `weir_proxy_streams_total{kind="request"} 15`, `weir_proxy_streams_total{kind="response"} 16`,
		`weir_proxy_streams_refused_total 17`, `weir_proxy_timeouts_total 18`, `weir_proxy_buffer_bytes 19`, `weir_proxy_buffer_files 20`, `weir_proxy_buffer_file_bytes 31`,
		`weir_proxy_upstream_in_flight{address="http://127.0.0.1:9000",upstream="api"} 21`,
		`weir_proxy_upstream_requests_total{address="http://127.0.0.1:9000",upstream="api"} 22`,
		`weir_proxy_upstream_failures_total{address="http://127.0.0.1:9000",upstream="api"} 23`,
		`weir_proxy_upstream_healthy{address="http://127.0.0.1:9000",upstream="api"} 1`,
		`weir_proxy_upstream_in_rotation{address="http://127.0.0.1:9000",upstream="api"} 0`,
		`weir_proxy_reloads_total{result="applied"} 24`, `weir_proxy_reloads_total{result="refused"} 25`, `weir_proxy_applied_timestamp_seconds 26`,
		`weir_proxy_spans_total{result="sent"} 27`, `weir_proxy_spans_total{result="dropped"} 28`, `weir_proxy_spans_total{result="failed"} 29`, `weir_proxy_log_dropped_total 36`,
		`weir_proxy_fleet_cap{fleet="shop"} 32`, `weir_proxy_fleet_members{fleet="shop"} 33`, `weir_proxy_fleet_share{fleet="shop"} 34`,
		`weir_proxy_fleet_epoch{fleet="shop"} 35`, `weir_proxy_fleet_leased{fleet="shop"} 1`, `weir_proxy_fleet_allocates{fleet="shop"} 0`,
		`weir_proxy_fleet_store_up{fleet="shop"} 0`,
	} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	for on, want := range map[bool]int{true: 200, false: 404} {
		probes.Metrics = on
		if status := probed(t, p, probes, "/metrics"); status != want {
			t.Errorf("probes.metrics %v: %d, want %d", on, status, want)
		}
	}
}

func TestMetricsOfOneName(t *testing.T) {
	twins := []*weir.Limiter{weir.Must(weir.New(weir.Config{Name: "a"})), weir.Must(weir.New(weir.Config{Name: "a"}))}
	if _, err := Metrics(metrics.Sources{Limiters: twins}, figured); err == nil {
		t.Error("two limiters of one name")
	}
}

// Before any event, the gatherer has no series with unknown labels, and no time of a
// configuration.
func TestFiguresOfNothing(t *testing.T) {
	g := must.Have(Metrics(metrics.Sources{}, func() Figures { return Figures{} }))(t)
	families := must.Have(g.Gather())(t)
	for _, family := range families {
		if family.GetName() == "weir_proxy_applied_timestamp_seconds" {
			t.Error("no configuration was applied")
		}
	}
}

func TestDocumentHasTheSeries(t *testing.T) {
	text := must.Have(os.ReadFile("../../../../docs/metrics.md"))(t)
	for _, s := range all {
		if !strings.Contains(string(text), s.row()) {
			t.Errorf("docs/metrics.md lacks\n%s", s.row())
		}
	}
	if lines := strings.Count(string(text), "\n| `weir_proxy_"); lines != len(all) {
		t.Errorf("docs/metrics.md has %d series of the proxy: want %d", lines, len(all))
	}
}

func (s *series) row() string {
	kind, labels := "gauge", ""
	if s.kind == prometheus.CounterValue {
		kind = "counter"
	}
	for i, label := range s.labels {
		if i > 0 {
			labels += ", "
		}
		labels += label
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", s.name, kind, labels, s.help)
}
