package proxytest

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"testing"

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
	write(t, file, fmt.Sprintf(`static_resources:
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

// socket formats an address as Envoy's configuration does.
func socket(t testing.TB, address string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("{socket_address: {address: %s, port_value: %s}}", host, port)
}
