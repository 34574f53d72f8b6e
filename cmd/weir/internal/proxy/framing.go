package proxy

import (
	"net/http"

	"github.com/weir-go/weir/cmd/weir/internal/client"
)

// framed closes the connections of trusted proxies after requests in chunks. If such a request has
// a length as well, which net/http does not tell, a proxy that goes by the length takes what
// follows the chunks for its body, and the next response for that of another client (RFC 9112,
// section 6.3). Clients that speak for themselves alone keep their connections.
func framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 && client.Of(r.Context()).Trusted {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
