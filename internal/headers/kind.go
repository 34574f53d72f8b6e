package headers

import (
	"net/http"
	"strings"
)

// IsGRPC reports whether a message is gRPC, in any encoding, or gRPC-Web.
func IsGRPC(header http.Header) bool {
	const media = "application/grpc"
	text := header.Get("Content-Type")
	return len(text) >= len(media) && strings.EqualFold(text[:len(media)], media)
}

// IsConversation reports whether the two sides of a request may take turns: a call of gRPC,
// or a stream of Connect.
func IsConversation(header http.Header) bool {
	const connect = "application/connect+"
	text := header.Get("Content-Type")
	return IsGRPC(header) || len(text) >= len(connect) && strings.EqualFold(text[:len(connect)], connect)
}

// IsEvents reports whether a message is a stream of server-sent events, by the test of
// httputil.ReverseProxy.
func IsEvents(header http.Header) bool {
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// IsUpgrade reports whether a request asks for another protocol.
func IsUpgrade(header http.Header) bool { return UpgradeTo(header) != "" }
