package listen

import (
	"net/http"
	"strings"
)

// serve hands a request on with a body and a writer that give up on a client that stalls. Responses
// of HTTP/1 need no writer of their own: their connection looks after itself.
func (l *Listener) serve(w http.ResponseWriter, r *http.Request) {
	c := connOf(r.Context())
	if c.secured != nil {
		r.TLS = c.secured()
	}
	if why := complaint(r); why != "" {
		if r.Method == "PRI" {
			w.Header().Set("Connection", "close") // because framing looks at no head behind it
		}
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	underscores := l.live.Load().underscores
	if !underscores {
		dropUnderscores(r.Header)
	}
	dropTrailers(r.Trailer, underscores)
	if r.ProtoMajor >= 2 {
		s := l.newStream(w, c)
		defer s.release(r.Context())
		w = s
	}
	if r.Body != http.NoBody {
		b := newBody(r, c, w)
		b.trailer, b.underscores = r.Trailer, underscores
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

// complaint says what is wrong with a request that net/http serves and no upstream should have.
func complaint(r *http.Request) string {
	switch scheme := r.URL.Scheme; {
	case r.Method == "PRI": // which net/http serves in the midst of HTTP/1
		return "PRI begins HTTP/2 and is no method"
	case strings.ContainsFunc(r.Method, noToken): // of HTTP/2
		return "the method is no token"
	case scheme != "" && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return "the scheme of the request is not http or https" // an upstream would take the URL for a path
	case strings.ContainsFunc(r.Host, noHost): // of HTTP/2, or of an absolute form
		return "the host of the request has a character that none may have"
	}
	return ""
}

// dropUnderscores drops what has an underscore in its name: CGI and WSGI read X_Forwarded_For as
// X-Forwarded-For, which is not the client's to say.
func dropUnderscores(from http.Header) {
	for name := range from {
		if strings.Contains(name, "_") {
			delete(from, name)
		}
	}
}

// ignoreUpgrade ignores that the client asks for another protocol, as a server may (RFC 9110, 7.8).
// With a body under way, its deadline would be one of the other protocol too.
func ignoreUpgrade(r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("Upgrade")
	}
}
