package headers

import (
	"net/http"
	"strings"
)

// IsGRPC tells a message of gRPC, in whatever encoding, or of gRPC-Web.
func IsGRPC(header http.Header) bool {
	const media = "application/grpc"
	text := header.Get("Content-Type")
	return len(text) >= len(media) && strings.EqualFold(text[:len(media)], media)
}

// IsConversation tells a request whose two sides may take turns: a call of gRPC, or a stream of
// Connect.
func IsConversation(header http.Header) bool {
	const connect = "application/connect+"
	text := header.Get("Content-Type")
	return IsGRPC(header) || len(text) >= len(connect) && strings.EqualFold(text[:len(connect)], connect)
}

// IsEvents tells a stream of server-sent events, by the same sign as httputil.ReverseProxy.
func IsEvents(header http.Header) bool {
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// IsUpgrade tells a request for another protocol, by the same sign as httputil.ReverseProxy.
func IsUpgrade(header http.Header) bool {
	if header.Get("Upgrade") == "" {
		return false
	}
	for _, line := range header["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return true
			}
		}
	}
	return false
}
