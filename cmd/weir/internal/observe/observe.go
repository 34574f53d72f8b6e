package observe

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
)

// New returns a handler that runs next and then writes a line to access and ends the span of the
// request. Either may be nil.
func New(next http.Handler, access *slog.Logger, tracer *spans.Tracer) http.Handler {
	if access == nil && tracer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := client.Of(r.Context())
		if access == nil && !id.Trace.Sampled() {
			next.ServeHTTP(w, r)
			return
		}
		x := &response{ResponseWriter: w, began: time.Now()}
		done := false
		defer func() { // also on a panic that cuts the connection
			if done && x.status == 0 {
				x.status = http.StatusOK
			}
			ended := time.Now()
			if access != nil {
				write(access, r, id, x, ended)
			}
			if id.Trace.Sampled() {
				tracer.End(spanOf(r, id, x, ended))
			}
		}()
		next.ServeHTTP(x, r)
		done = true
	})
}

// A response is the response as written so far.
type response struct {
	http.ResponseWriter
	began  time.Time
	status int // 0 before the header
	bytes  int64
}

// WriteHeader implements [http.ResponseWriter].
func (x *response) WriteHeader(status int) {
	if x.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) { // the others are informational
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (x *response) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// Unwrap returns the underlying writer for http.ResponseController.
func (x *response) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// The maximum lengths of texts that a client chooses. A host name has 253 bytes at most.
const (
	maxMethod = 32
	maxHost   = 256
	maxPath   = 1024
)

// cut shortens a text.
func cut(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return text[:longest] + "..."
}

func spanOf(r *http.Request, id *client.Identity, x *response, ended time.Time) spans.Span {
	return spans.Span{
		Context: id.Trace, Start: x.began, End: ended,
		Method: cut(r.Method, maxMethod), Path: cut(r.URL.EscapedPath(), maxPath), Host: cut(id.Host, maxHost), Proto: id.Proto,
		Client: addressOf(id), Status: x.status, Route: id.Record.Route,
		Compartment: id.Record.Compartment, Upstream: id.Record.Upstream, Waited: id.Record.Waited, Refused: id.Record.Refused,
	}
}

func addressOf(id *client.Identity) string {
	if !id.Address.IsValid() {
		return ""
	}
	return id.Address.String()
}
