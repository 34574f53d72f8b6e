package weirhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/weir-go/weir"
)

// statusOutcome returns what a response teaches that was completed.
func statusOutcome(status int, header http.Header) weir.Outcome {
	switch {
	case status == http.StatusGatewayTimeout:
		return weir.Timeout
	case status >= 500:
		return weir.Failure
	case status >= 400, status == http.StatusSwitchingProtocols, isStream(header):
		return weir.Ignore
	default:
		return weir.Success
	}
}

// isStream tells a stream of server-sent events, which ends when its client
// likes, by the same sign as httputil.ReverseProxy.
func isStream(header http.Header) bool {
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// contextOutcome returns what the end of a request's context teaches: a
// cancellation is a caller that left, a deadline is time that ran out.
func contextOutcome(ctx context.Context) weir.Outcome {
	if errors.Is(ctx.Err(), context.Canceled) {
		return weir.Ignore
	}
	return weir.Timeout
}

// errorOutcome returns what an error of a transport, or of a response's body,
// teaches. A refusal by another limiter on the way never reached the
// downstream.
func errorOutcome(ctx context.Context, err error) weir.Outcome {
	if ctx.Err() != nil {
		return contextOutcome(ctx)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, weir.ErrRefused) {
		return weir.Ignore
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return weir.Timeout
	}
	return weir.Failure
}
