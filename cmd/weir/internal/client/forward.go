package client

import (
	"context"
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

// These names of headers are in canonical form, as the keys of a request's header.
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

// Forward sets the headers that describe the client to the upstream in h, which begins as a copy
// of the request's header. ctx is the request's own, with its place in the queue. Call Forward
// last, because a client can have headers removed by naming them in Connection.
func (id *Identity) Forward(ctx context.Context, in *http.Request, h http.Header) {
	one := make(lines, 0, 8)
	id.forwardAddresses(in, h, &one)
	id.forwardCertificate(in, h)
	id.forwardToWeir(ctx, h)
	h[RequestIDHeader] = one.of(id.RequestID)
	if id.traced {
		h[traceparent] = one.of(id.Trace.Traceparent())
	}
	if _, valid := spans.Parse(in.Header[traceparent]); !valid {
		if !id.traced {
			delete(h, traceparent)
		}
		delete(h, tracestate) // only valid with traceparent
	}
}

// lines are values of headers in one allocation.
type lines []string

// of returns a header of one line.
func (l *lines) of(value string) []string {
	*l = append(*l, value)
	n := len(*l)
	return (*l)[n-1 : n : n]
}

func (id *Identity) forwardAddresses(in *http.Request, h http.Header, one *lines) {
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
	h[realIP] = one.of(address)
	delete(h, forwarded) // nobody here reads or checks it
	if !id.Trusted {
		h[forwardedFor], h[forwardedProto], h[forwardedHost] = one.of(peer), one.of(proto), one.of(in.Host)
		delete(h, forwardedPort)
		return
	}

	switch chain, ok := joined(in.Header[forwardedFor]); {
	case ok:
		h[forwardedFor] = one.of(chain + ", " + peer)
	case address != peer:
		h[forwardedFor] = one.of(address + ", " + peer)
	default:
		h[forwardedFor] = one.of(peer)
	}
	if h[forwardedProto] = in.Header[forwardedProto]; h[forwardedProto] == nil {
		h[forwardedProto] = one.of(proto)
	}
	if h[forwardedHost] = in.Header[forwardedHost]; h[forwardedHost] == nil {
		h[forwardedHost] = one.of(in.Host)
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
// certificate of a trusted peer that forwards another client does not count: it would give a
// stranger the rights of that peer.
func (id *Identity) verified(r *http.Request) bool {
	return !id.forwarded && trust.Verified(trust.Peer{TLS: r.TLS})
}

// forwardToWeir sets the headers for the upstream's own limiter.
func (id *Identity) forwardToWeir(ctx context.Context, h http.Header) {
	delete(h, weirhttp.RefusedHeader)
	delete(h, weirhttp.TimeoutHeader)
	if !id.Trusted {
		delete(h, weirhttp.PriorityHeader)
		delete(h, weirhttp.AttemptHeader)
	}
	if p := weir.PriorityFrom(ctx); p != weir.PriorityNormal && h[weirhttp.PriorityHeader] == nil {
		h[weirhttp.PriorityHeader] = []string{p.String()}
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := max(time.Until(deadline).Milliseconds(), 0)
		h[weirhttp.TimeoutHeader] = []string{strconv.FormatInt(left, 10)}
	}
}
