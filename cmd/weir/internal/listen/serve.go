package listen

import (
	"net/http"
)

// serve hands a request on with a body and a writer that give up on a client that stalls. Responses
// of HTTP/1 need no writer of their own: their connection looks after itself.
func (l *Listener) serve(w http.ResponseWriter, r *http.Request) {
	c := connOf(r.Context())
	if r.ProtoMajor >= 2 {
		s := l.newStream(w, c)
		defer s.release(r.Context())
		w = s
	}
	if r.Body != http.NoBody {
		b := newBody(r, c, w)
		defer b.release()
		r = r.WithContext(r.Context()) // a copy: the server needs its own body
		r.Body = b
		if r.ProtoMajor < 2 {
			ignoreUpgrade(r)
			b.delay() // an early answer makes net/http read some of the body
		}
	}
	l.next.ServeHTTP(w, r)
}

// ignoreUpgrade ignores that the client asks for another protocol, as a server may (RFC 9110, 7.8).
// With a body under way, its deadline would be one of the other protocol too.
func ignoreUpgrade(r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("Upgrade")
	}
}
