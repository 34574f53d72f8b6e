package weirhttp

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// response is what a limited handler writes to. It notes the status, and gives
// the slot back when the connection is taken over. Everything else is the
// business of the writer it wraps.
type response struct {
	http.ResponseWriter
	permit weir.Permit
	status int // of the final header, 0 until it is written
}

// Unwrap serves [http.ResponseController].
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *response) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // the others announce, and more follows
		r.note(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(p []byte) (int, error) {
	r.note(http.StatusOK)
	return r.ResponseWriter.Write(p)
}

func (r *response) WriteString(s string) (int, error) {
	r.note(http.StatusOK)
	return io.WriteString(r.ResponseWriter, s)
}

func (r *response) note(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// outcome returns what the request teaches, once its handler has returned or,
// if it has not, panicked.
func (r *response) outcome(ctx context.Context, returned bool) weir.Outcome {
	switch {
	case ctx.Err() != nil:
		return edge.ContextOutcome(ctx)
	case !returned:
		return weir.Failure
	default:
		return statusOutcome(r.status, r.Header())
	}
}

func (r *response) flush() error {
	r.note(http.StatusOK)
	return http.NewResponseController(r.ResponseWriter).Flush()
}

func (r *response) hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil {
		r.permit.Release()
	}
	return conn, rw, err
}

func (r *response) readFrom(src io.Reader) (int64, error) {
	r.note(http.StatusOK)
	return r.ResponseWriter.(io.ReaderFrom).ReadFrom(src)
}

func (r *response) push(target string, opts *http.PushOptions) error {
	return r.ResponseWriter.(http.Pusher).Push(target, opts)
}

// writer returns r as a writer that can do what the wrapped one can, and no
// more: handlers ask by type assertion, and choose another way if they must.
//
// Hijack is looked for beneath the wrapped writer as well, where an
// http.ResponseController would find it without this package noticing. The
// others have to be the wrapped writer's own: what lies beneath one that
// compresses, say, must not be written to directly.
func (r *response) writer() http.ResponseWriter {
	_, flushes := r.ResponseWriter.(http.Flusher)
	_, reads := r.ResponseWriter.(io.ReaderFrom)
	_, pushes := r.ResponseWriter.(http.Pusher)
	hijacks := hijackable(r.ResponseWriter)
	switch {
	case flushes && hijacks && reads: // HTTP/1
		return flusherHijackerReader{flusherHijacker{flusher{r}}}
	case flushes && hijacks:
		return flusherHijacker{flusher{r}}
	case flushes && reads:
		return flusherReader{flusher{r}}
	case flushes && pushes: // HTTP/2
		return flusherPusher{flusher{r}}
	case flushes:
		return flusher{r}
	case hijacks && reads:
		return hijackerReader{hijacker{r}}
	case hijacks:
		return hijacker{r}
	case reads:
		return reader{r}
	case pushes: // http.TimeoutHandler
		return pusher{r}
	default:
		return r
	}
}

func hijackable(w http.ResponseWriter) bool {
	for {
		if _, ok := w.(http.Hijacker); ok {
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
	pusher                struct{ *response }
	flusherHijacker       struct{ flusher }
	flusherReader         struct{ flusher }
	flusherPusher         struct{ flusher }
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

func (w pusher) Push(url string, o *http.PushOptions) error        { return w.push(url, o) }
func (w flusherPusher) Push(url string, o *http.PushOptions) error { return w.push(url, o) }
