package listen

import (
	"net/http"
	"strings"
)

// serve calls the handler with a body and a writer that give up on a stalled client. HTTP/1
// responses need no special writer, because their connection is watched.
func (l *Listener) serve(w http.ResponseWriter, r *http.Request) {
	c := connOf(r.Context())
	if c.secured != nil {
		r.TLS = c.secured()
	}
	if why := complaint(r); why != "" {
		if r.Method == "PRI" {
			w.Header().Set("Connection", "close") // because framing checks no head after it
		}
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	underscores := l.live.Load().Underscores
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
		b := body{ReadCloser: r.Body, conn: c, trailer: r.Trailer, underscores: underscores}
		r = r.WithContext(r.Context()) // a copy: the server needs the original body
		if r.ProtoMajor >= 2 {
			of := newStreamBody(b, r.ContentLength, w)
			defer of.release()
			r.Body = of
		} else {
			ignoreUpgrade(r)
			c.await()
			r.Body = &b
		}
	}
	l.next.ServeHTTP(w, r)
}

// complaint describes the fault of a request that net/http serves but no upstream should receive.
// It is empty for any other request.
func complaint(r *http.Request) string {
	switch scheme := r.URL.Scheme; {
	case r.Method == "PRI": // net/http serves it in the middle of HTTP/1
		return "PRI begins HTTP/2 and is no method"
	case strings.ContainsFunc(r.Method, noToken): // of HTTP/2
		return "the method is no token"
	case scheme != "" && !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return "the scheme of the request is not http or https" // an upstream would read the URL as a path
	case strings.ContainsFunc(r.Host, noHost): // in HTTP/2, or in the absolute form
		return "the host of the request has a character that none may have"
	}
	return ""
}

// dropUnderscores drops headers with an underscore in the name: CGI and WSGI read
// X_Forwarded_For as X-Forwarded-For, which a client must not set.
func dropUnderscores(from http.Header) {
	for name := range from {
		if strings.Contains(name, "_") {
			delete(from, name)
		}
	}
}

// ignoreUpgrade removes the client's request for another protocol, as a server may (RFC 9110,
// 7.8). If a body were still being read, its deadline would also apply to the other protocol.
func ignoreUpgrade(r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		r.Header = r.Header.Clone()
		r.Header.Del("Upgrade")
	}
}
