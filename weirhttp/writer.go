package weirhttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// writer returns r as a writer with the abilities of the server's, and no
// more: handlers ask by type assertion, and choose another way if they must.
//
// Hijack is looked for beneath the server's writer as well, where an
// http.ResponseController would find it without this package noticing, and so is Flush while
// a response is held back. The
// others have to be that writer's own: the writer beneath one that
// compresses, say, must not be written to directly.
func (r *response) writer() http.ResponseWriter {
	_, flushes := r.server.(http.Flusher)
	_, reads := r.server.(io.ReaderFrom)
	hijacks := has[http.Hijacker](r.server)
	if r.held != nil {
		flushes = has[http.Flusher](r.server) || has[flushErrorer](r.server)
	}
	switch {
	case flushes && hijacks && reads: // HTTP/1
		return flusherHijackerReader{flusherHijacker{flusher{r}}}
	case flushes && hijacks:
		return flusherHijacker{flusher{r}}
	case flushes && reads:
		return flusherReader{flusher{r}}
	case flushes: // HTTP/2
		return flusher{r}
	case hijacks && reads:
		return hijackerReader{hijacker{r}}
	case hijacks:
		return hijacker{r}
	case reads:
		return reader{r}
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
	flusher               struct{ *response }
	hijacker              struct{ *response }
	reader                struct{ *response }
	flusherHijacker       struct{ flusher }
	flusherReader         struct{ flusher }
	hijackerReader        struct{ hijacker }
	flusherHijackerReader struct{ flusherHijacker }
)

func (w flusher) Flush()            { _ = w.flush() }
func (w flusher) FlushError() error { return w.flush() }

func (w hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error)        { return w.hijack() }
func (w flusherHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }

func (w reader) ReadFrom(src io.Reader) (int64, error)                { return w.readFrom(src) }
func (w flusherReader) ReadFrom(src io.Reader) (int64, error)         { return w.readFrom(src) }
func (w hijackerReader) ReadFrom(src io.Reader) (int64, error)        { return w.readFrom(src) }
func (w flusherHijackerReader) ReadFrom(src io.Reader) (int64, error) { return w.readFrom(src) }
