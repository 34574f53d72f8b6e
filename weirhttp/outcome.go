package weirhttp

import (
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
