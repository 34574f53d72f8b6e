// Package proxy puts the proxy together: listeners, routes to compartments and upstreams, reload,
// and how it stops.
//
// # The way of a request
//
// A listener (package listen) hands it to the table. There it learns who its client is (package
// client), is written to the log when it is over (package observe), and finds its route ([router]).
// The route gives it a priority and a tenant, and takes it through a slot of its compartment to the
// upstream (package exchange).
//
// # Reload
//
// A table is made from a configuration and the table before it, and never changes. A reload swaps
// one pointer, and a request keeps the table that it began with. What is learned is in what tables
// share: the set of compartments, the caps, the addresses of upstreams.
//
// # Stopping
//
// First readiness fails, and every answer says that its connection closes, while requests are still
// accepted for as long as shutdown.wait. Then listeners close, requests have shutdown.grace to
// finish, and what is left is cut.
package proxy
