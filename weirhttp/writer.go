package weirhttp

import (
	"bufio"
	"net"
	"net/http"
)

// writer returns r as a writer that flushes and hijacks if the server's writer does, and only then.
// Handlers ask for these methods by type assertion, and choose another way without them.
//
// It also looks for Hijack beneath the server's writer, because an http.ResponseController would
// find it there without the notice of this package. While a response is held back, it looks for
// Flush there as well. Otherwise the server's writer itself has to flush: a flush beneath a writer
// that compresses, say, would go past its buffer.
func (r *response) writer() http.ResponseWriter {
	_, flushes := r.server.(http.Flusher)
	if r.held != nil {
		flushes = has[http.Flusher](r.server) || has[flushErrorer](r.server)
	}
	switch hijacks := has[http.Hijacker](r.server); {
	case flushes && hijacks: // HTTP/1
		return flusherHijacker{flusher{r}}
	case flushes: // HTTP/2
		return flusher{r}
	case hijacks:
		return hijacker{r}
	default:
		return r
	}
}

type flushErrorer interface{ FlushError() error }

// has reports whether a writer, or one beneath it, implements T.
func has[T any](w http.ResponseWriter) bool {
	for {
		if _, ok := w.(T); ok {
			return true
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = u.Unwrap()
	}
}

// The types below add methods to a response. Each is one pointer, so that it
// becomes an interface without an allocation.
type (
	flusher         struct{ *response }
	hijacker        struct{ *response }
	flusherHijacker struct{ flusher }
)

func (w flusher) Flush()            { _ = w.flush() }
func (w flusher) FlushError() error { return w.flush() }

func (w hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error)        { return w.hijack() }
func (w flusherHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }
