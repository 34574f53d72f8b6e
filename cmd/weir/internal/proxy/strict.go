package proxy

import (
	"net/http"
	"strings"
)

// strict refuses requests for other schemes than HTTP's, which the upstream would take for a path.
// Unless underscores may pass, it drops headers with one in their name: CGI and WSGI read
// X_Forwarded_For as X-Forwarded-For, which is not the client's to say.
func strict(next http.Handler, underscores bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := r.URL.Scheme; s != "" && !strings.EqualFold(s, "http") && !strings.EqualFold(s, "https") {
			http.Error(w, "the scheme of the request is not http or https", http.StatusBadRequest)
			return
		}
		if !underscores {
			for name := range r.Header {
				if strings.Contains(name, "_") {
					delete(r.Header, name)
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
