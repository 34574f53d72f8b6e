// Package dash shows limiters live in a browser. One time axis has the limit, the work in flight,
// the queue, the slots at rest, the requests a second and the latency, and marks each change of
// the limit with its reason. Other charts have the throughput and the median latency over the work
// in flight, a heat map of latencies, the refusals by reason, the shares of the keys of a set, and
// the size, reserve and backlog of pools. Tables have the state of throttles. One line adds the
// page to a server:
//
//	http.Handle("/weir/", http.StripPrefix("/weir", d))
//
// All parts of the page are in the binary. It works in light and dark, on a phone and with the
// keyboard, and has its figures as a table for screen readers.
//
// # Cost
//
// While someone looks, the handler reads each limiter twice a second and keeps an hour of readings:
// a third of a megabyte for each limiter, or half a megabyte with histograms. A minute after the
// last page has left, it stops and forgets them. Without a page it costs nothing. It shows at most
// 64 limiters and serves at most 256 pages. A page that does not read for eight seconds is cut off.
// For 20 limiters and 200 pages it takes 0.4% of a core and 28 MB, clients included:
//
//	go test ./dash -run '^$' -bench 200Pages -cpu 1
//
// The command weir record writes the readings of a dashboard to a file. [Replay] shows such a file.
//
// # Access
//
// A viewer needs the token of [Config].Token, unless [Config].Public is set. The page asks
// for the token once and exchanges it for a cookie that scripts cannot read and that other sites
// cannot send. A program sends it as "Authorization: Bearer TOKEN". A request for a host that is
// not this machine, and not of [Config].Hosts, is refused, so that a foreign page cannot reach the
// dashboard under a name of its own (DNS rebinding). The page runs no script but its own, and shows
// names as text, cut to 128 bytes.
//
// Tenants ([Config].Tenants), refused requests ([Config].Refusals), and changes ([Config].Law and
// [Config].Shadow) always take the token. A change that a foreign page sends is refused. A stream
// of events ends within five seconds after its token has changed.
//
// The charts are drawn by uPlot, https://github.com/leeoniya/uPlot (MIT).
package dash
