package trust

import "net/http"

// Handler returns a handler that runs next with the priority that a trusted peer sent in the request's [Header], as
// [Peers.WithPriority] reads it. It belongs outside of what admits requests, such as weirhttp.Limit, and of a handler of
// Connect. It panics if next is nil.
func Handler(next http.Handler, peers Peers) http.Handler {
	if next == nil {
		panic("trust: Handler of a nil handler")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if values := r.Header[Header]; len(values) > 0 {
			if ctx := peers.WithPriority(r.Context(), FromRequest(r), values); ctx != r.Context() {
				r = r.WithContext(ctx)
			}
		}
		next.ServeHTTP(w, r)
	})
}
