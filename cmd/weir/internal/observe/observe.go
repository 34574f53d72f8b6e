package observe

import (
	"bufio"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
)

// Begin returns the writer for a request that begins now, or nil if the request is not observed.
// The access log gets a line about the request, and the tracer gets its span. Both may be nil.
func Begin(w http.ResponseWriter, id *client.Identity, access *slog.Logger, tracer *spans.Tracer) *Response {
	if access == nil && !id.Trace.Sampled() {
		return nil
	}
	return &Response{ResponseWriter: w, access: access, tracer: tracer, began: time.Now()}
}

// End reports a request that has ended: returned is false after a panic that cuts the
// connection.
func (x *Response) End(r *http.Request, id *client.Identity, returned bool) {
	if returned && x.status == 0 {
		x.status = http.StatusOK
	}
	s := x.span(r, id)
	x.write(r.Context(), s, id.RequestID)
	x.tracer.End(s)
}

// A Response is the writer of a response. It keeps the status, and counts the bytes of the body.
type Response struct {
	http.ResponseWriter
	access *slog.Logger
	tracer *spans.Tracer
	began  time.Time
	status int // 0 before the header
	bytes  int64
}

// WriteHeader implements [http.ResponseWriter].
func (x *Response) WriteHeader(status int) {
	if x.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) { // other statuses are informational
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (x *Response) Write(p []byte) (int, error) {
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// Hijack implements [http.Hijacker]. The proxy takes a connection over for another protocol, and
// writes the 101 to it directly.
func (x *Response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err == nil {
		x.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// Unwrap returns the underlying writer for http.ResponseController.
func (x *Response) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Texts that a client chooses have these maximum lengths. A host name has 253 bytes at most.
const (
	maxMethod = 32
	maxHost   = 256
	maxPath   = 1024
)

func cut(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return text[:longest] + "..."
}

func (x *Response) span(r *http.Request, id *client.Identity) spans.Span {
	address := ""
	if id.Address.IsValid() {
		address = id.Address.String()
	}
	return spans.Span{
		Context: id.Trace, Start: x.began, End: time.Now(),
		Method: cut(r.Method, maxMethod), Path: cut(r.URL.EscapedPath(), maxPath), Host: cut(id.Host, maxHost), Proto: id.Proto,
		Client: address, Status: x.status, Record: id.Record,
	}
}
