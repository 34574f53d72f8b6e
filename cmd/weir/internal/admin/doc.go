// Package admin implements the handlers for operators and platforms.
//
// For operators, made by [New]:
//
//	GET  /-/weir/snapshot                    state, as JSON
//	GET  /-/weir/config                      the configuration as applied, as YAML
//	GET  /-/weir/dash/                       the compartments in a browser, live
//	GET  /metrics                            for Prometheus
//	GET  /debug/pprof/                       profiles, if admin.pprof is on
//	POST /-/weir/dash/change                 a form with limiter, and law or shadow, until the next reload or restart
//
// For platforms, made by [Probes]: /live, /ready, and, if configured, /metrics.
//
// # Access
//
// On a loopback address or a Unix socket, read requests need no token. Elsewhere they need the
// token, as "Authorization: Bearer TOKEN"; the page of /-/weir/dash/ asks for it. Changes always
// need the token, and are disabled without a token. The file of the token is read for each request
// that needs it, so a new token applies at once.
//
// A page of another site can make a browser send requests to this machine. So the Host of a request
// must be a loopback address, localhost, an address of the listener, or one of admin.hosts; an
// attacker's name that resolves to this machine is refused. Changes are refused if a browser sends
// them for another site. The probes make none of these checks, because they reveal no state.
package admin
