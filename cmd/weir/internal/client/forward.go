package client

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirhttp"
)

// The headers, in canonical form.
const (
	forwardedFor    = "X-Forwarded-For"
	forwardedProto  = "X-Forwarded-Proto"
	forwardedHost   = "X-Forwarded-Host"
	forwardedPort   = "X-Forwarded-Port"
	forwarded       = "Forwarded"
	realIP          = "X-Real-Ip"
	clientCert      = "Client-Cert"
	clientCertChain = "Client-Cert-Chain"
	traceparent     = "Traceparent"
	tracestate      = "Tracestate"
)

// maxChain bounds the length of a forwarded chain. A longer chain is replaced by the client's
// address.
const maxChain = 4 << 10

// Forward sets the headers that describe the client to the upstream. in is the request as
// received, out the one for the upstream, whose header it owns, as in
// [net/http/httputil.ProxyRequest]. Call it last, because a client can have headers removed
// by naming them in Connection.
func (id *Identity) Forward(in, out *http.Request) {
	h := out.Header
	id.forwardAddresses(in, h)
	id.forwardCertificate(in, h)
	id.forwardToWeir(in, h)
	h[RequestIDHeader] = []string{id.RequestID}
	if id.traced {
		h[traceparent] = []string{id.Trace.Traceparent()}
	}
	if _, valid := spans.Parse(in.Header[traceparent]); !valid {
		if !id.traced {
			delete(h, traceparent)
		}
		delete(h, tracestate) // only valid with traceparent
	}
}

func (id *Identity) forwardAddresses(in *http.Request, h http.Header) {
	peer, proto := "unknown", "http"
	if id.Peer.IsValid() {
		peer = id.Peer.String()
	}
	if in.TLS != nil {
		proto = "https"
	}
	address := peer
	if id.Address != id.Peer {
		address = id.Address.String()
	}
	for _, name := range [...]string{forwardedFor, forwardedProto, forwardedHost, forwardedPort, forwarded} {
		delete(h, name)
	}
	h[realIP] = []string{address}
	h[forwardedFor] = []string{peer}
	h[forwardedProto] = []string{proto}
	h[forwardedHost] = []string{in.Host}
	if !id.Trusted {
		return
	}

	if chain, ok := joined(in.Header[forwardedFor]); ok {
		h[forwardedFor] = []string{chain + ", " + peer}
	} else if address != peer {
		h[forwardedFor] = []string{address + ", " + peer}
	}
	if chain, ok := joined(in.Header[forwarded]); ok {
		h[forwarded] = []string{chain + ", " + elementOf(id.Peer, proto, in.Host)}
	}
	for _, name := range [...]string{forwardedProto, forwardedHost, forwardedPort} {
		if given := in.Header[name]; given != nil {
			h[name] = given
		}
	}
}

// joined returns a chain in one line. It reports false if the chain is empty or too long.
func joined(lines []string) (chain string, ok bool) {
	total := 0
	for _, line := range lines {
		total += len(line) + len(", ")
	}
	if total > maxChain {
		return "", false
	}
	chain = strings.Join(lines, ", ")
	return chain, strings.Trim(chain, " \t,") != ""
}

// forwardCertificate sets the headers of RFC 9440 for the client's certificate.
func (id *Identity) forwardCertificate(in *http.Request, h http.Header) {
	if !id.Trusted {
		delete(h, clientCert)
		delete(h, clientCertChain)
	}
	if id.verified(in) {
		h[clientCert] = []string{":" + base64.StdEncoding.EncodeToString(in.TLS.PeerCertificates[0].Raw) + ":"}
	}
}

// verified reports whether the certificate of the connection is the client's own. The
// certificate of a trusted peer that forwards another client is not: with it a stranger would
// have the proxy's rights.
func (id *Identity) verified(r *http.Request) bool {
	return !id.forwarded && trust.Verified(trust.Peer{TLS: r.TLS})
}

// forwardToWeir sets the headers for the upstream's own limiter.
func (id *Identity) forwardToWeir(in *http.Request, h http.Header) {
	delete(h, weirhttp.RefusedHeader)
	delete(h, weirhttp.TimeoutHeader)
	if !id.Trusted {
		delete(h, weirhttp.PriorityHeader)
		delete(h, weirhttp.AttemptHeader)
	}
	if p := weir.PriorityFrom(in.Context()); p != weir.Normal && h[weirhttp.PriorityHeader] == nil {
		h[weirhttp.PriorityHeader] = []string{p.String()}
	}
	if deadline, ok := in.Context().Deadline(); ok {
		left := max(time.Until(deadline).Milliseconds(), 0)
		h[weirhttp.TimeoutHeader] = []string{strconv.FormatInt(left, 10)}
	}
}

// Answered removes headers that only this proxy may set from the upstream's response.
func Answered(response http.Header) {
	delete(response, RequestIDHeader) // already set
	delete(response, weirhttp.RefusedHeader)
}
