package client

import (
	"crypto/rand"
	"net/http"
	"net/netip"

	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/trust"
)

// An Identity describes the origin of a request. Only Record changes.
type Identity struct {
	Address   netip.Addr // the client's; zero if it has none, as behind a Unix socket
	Peer      netip.Addr // the other end of the connection
	Trusted   bool       // the peer is trusted
	RequestID string
	Proto     string // used by the client: http or https
	Host      string // requested by the client
	Trace     spans.Context

	// Record is filled in by the layers below.
	Record spans.Record

	forwarded bool // a trusted peer named another client
	traced    bool // send Trace to the upstream, not the client's own headers
}

// RequestIDHeader identifies a request on its way, and in the response.
const RequestIDHeader = "X-Request-Id"

// Identify returns the identity of a request on a listener that trusts the peers. A nil tracer
// leaves traceparent unchanged. The request keeps its headers: [Identity.Forward] sets the
// headers for the upstream.
func Identify(r *http.Request, peers trust.Peers, tracer *spans.Tracer) *Identity {
	peer := trust.FromRequest(r)
	id := &Identity{Peer: plain(peer.Addr), Trusted: peers != nil && peers(peer), Proto: "http", Host: r.Host}
	id.Address = id.Peer
	if r.TLS != nil {
		id.Proto = "https"
	}
	if id.Trusted {
		id.believe(r.Header, peers)
	}
	if id.RequestID == "" {
		id.RequestID = rand.Text()
	}
	if tracer != nil {
		id.Trace, id.traced = tracer.Start(r.Header[traceparent], id.Trusted), true
	}
	return id
}

// believe takes over the claims of a trusted peer.
func (id *Identity) believe(h http.Header, peers trust.Peers) {
	id.Address, id.forwarded = origin(h, id.Peer, peers)
	id.forwarded = id.forwarded || h[clientCert] != nil
	switch proto := single(h[forwardedProto]); proto {
	case "http", "https":
		id.Proto = proto
	}
	if host := single(h[forwardedHost]); host != "" {
		id.Host = host
	}
	if text := single(h[RequestIDHeader]); isPlain(text) {
		id.RequestID = text
	}
}

// maxRequestID is longer than any usual identifier: a UUID has 36 bytes, AWS's X-Amzn-Trace-Id 74.
const maxRequestID = 128

// isPlain reports whether an identifier can be written to any log unescaped.
func isPlain(text string) bool {
	if text == "" || len(text) > maxRequestID {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case c == '-', c == '_', c == '.', c == ':', c == '=', c == '+', c == '/', c == ';', c == '@':
		default:
			return false
		}
	}
	return true
}

// single returns the value of a header that occurs exactly once.
func single(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return ""
}

// plain returns an address in the form that is compared and written. An IPv4 address in the form of
// IPv6 becomes IPv4. The address loses its zone, because a zone has a meaning only on its host.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
