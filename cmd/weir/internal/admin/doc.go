// Package admin has the handlers for operators and platforms.
//
// For operators, made by [New]:
//
//	GET  /-/weir/snapshot                    state, as JSON
//	GET  /-/weir/config                      the configuration as applied, as YAML
//	GET  /-/weir/healthz                     200, or 503 while it stops
//	GET  /metrics                            for Prometheus
//	GET  /debug/pprof/                       profiles, if admin.pprof is on
//	POST /-/weir/limits/{compartment}        {"pin": 20} holds the limit there, {"pin": null} lets the law decide again
//	POST /-/weir/shadow/{compartment}        {"shadow": true} refuses nothing, {"shadow": false} limits again
//	POST /-/weir/reload                      reads the configuration again
//
// Pins and shadow mode stand above the configuration until the next reload or restart.
//
// For platforms, made by [Probes]: /live, /ready, and /metrics if a setting says so.
//
// # Who may
//
// On a loopback address or a Unix socket anyone may look. Elsewhere a request needs the token, as
// "Authorization: Bearer TOKEN". Changes always need it, and there are none without a token. The
// file of the token is read for each request that needs it, so a new one counts at once.
//
// A page of another site can have a browser send requests to this machine. So the Host of a request
// has to be a loopback address, localhost, an address of the listener, or one of admin.hosts; a
// name that an attacker lets point here is none of them. Changes are refused if a browser sends
// them for another site, and have to be JSON, which no form can send. The probes ask for none of
// this: they say nothing.
package admin
