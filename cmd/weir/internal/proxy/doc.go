// Package proxy assembles the proxy: listeners, routes to compartments and upstreams, reload,
// and shutdown.
//
// # The path of a request
//
// A listener (package listen) passes the request to serve.go, which takes the current table,
// identifies the client (package client), logs the request when it has ended (package observe), and
// finds its route ([router]). The route names the priority and the tenant of the request, and
// passes the request through a slot of its compartment to the upstream (package exchange).
//
// # Reload
//
// A table is made from a configuration and the previous table, and never changes. A reload
// swaps one pointer, and a request keeps the table that it began with. Learned state is in
// the parts that tables share: the set of compartments, the caps, the addresses of upstreams.
//
// # Stopping
//
// First readiness fails, and every answer closes its connection, while requests are still
// accepted for shutdown.wait. Then listeners close, and requests and WebSockets have
// shutdown.grace to finish before they are cut.
package proxy
