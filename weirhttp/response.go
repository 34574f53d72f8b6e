package weirhttp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/internal/slot"
)

// response is the ResponseWriter of a limited handler. It records the status, measures the latency
// at the first byte if Config.FirstByte is set, and gives the slot back when the connection is
// hijacked. The wrapped writer does everything else.
type response struct {
	http.ResponseWriter                     // the server's writer, or the held response
	server              http.ResponseWriter // the server's
	held                *held               // nil if nothing is held back
	ctx                 context.Context     //nolint:containedctx // the request's, which a response has

	slot      slot.Slot
	firstByte bool // measures the latency to the first byte
	status    int  // of the final header, 0 until it is written
	hijacked  bool // the connection has the slot
}

// Unwrap serves [http.ResponseController]. The controller finds the methods that writer adds before
// it unwraps, so a flush or a hijack here sees the held bytes.
func (r *response) Unwrap() http.ResponseWriter { return r.server }

func (r *response) WriteHeader(status int) {
	if !informs(status) {
		r.note(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

// informs reports whether a header with the status is informational, so that the final header
// follows.
func informs(status int) bool { return status < 200 && status != http.StatusSwitchingProtocols }

func (r *response) Write(p []byte) (int, error) {
	r.first()
	return r.ResponseWriter.Write(p)
}

func (r *response) WriteString(s string) (int, error) {
	r.first()
	return io.WriteString(r.ResponseWriter, s)
}

func (r *response) note(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// first notes that the body begins, and with firstByte measures the latency.
func (r *response) first() {
	r.note(http.StatusOK)
	if r.firstByte && !headers.IsGRPC(r.Header()) {
		r.firstByte = false
		r.slot.Measure(r.begun())
	}
}

// begun returns the outcome of the response that begins now. A response of gRPC has its status at
// its end, so its outcome is Ignore.
func (r *response) begun() weir.Outcome {
	if r.ctx.Err() != nil {
		return edge.ContextOutcome(r.ctx)
	}
	if headers.IsGRPC(r.Header()) {
		return weir.Ignore
	}
	return beginOutcome(r.status)
}

// end gives the slot back, and then sends the held response.
func (r *response) end(returned bool) {
	if r.held != nil {
		r.held.stop(nil) // a client may take long to read the answer
	}
	if r.hijacked && returned {
		return
	}
	r.slot.Close(r.outcome(returned))
	if r.held != nil && returned {
		_ = r.held.send() // the server knows of a client that left
	}
}

// outcome returns the outcome of the request. If returned is false, its handler has panicked or
// ended its goroutine.
func (r *response) outcome(returned bool) weir.Outcome {
	switch {
	case r.ctx.Err() != nil:
		return edge.ContextOutcome(r.ctx)
	case !returned:
		return weir.Failure
	default:
		return ResponseOutcome(r.status, r.Header(), nil)
	}
}

func (r *response) flush() error {
	r.first()
	if r.held != nil {
		if err := r.held.open(r.begun()); err != nil {
			return err
		}
	}
	return http.NewResponseController(r.server).Flush()
}

func (r *response) hijack() (net.Conn, *bufio.ReadWriter, error) {
	if r.held != nil {
		if err := r.held.open(weir.Ignore); err != nil { // nothing was answered yet
			return nil, nil, err
		}
	}
	c, rw, err := http.NewResponseController(r.server).Hijack()
	if err != nil {
		return c, rw, err
	}
	if r.slot.State() == slot.Stream {
		r.hijacked = true
		return conn{c, &r.slot}, rw, nil
	}
	r.slot.Close(weir.Ignore)
	return c, rw, nil
}

// sniffed is the number of bytes of a copied body that ReadFrom writes first, to see when the first
// byte is there. The server of net/http reads the same number to detect the type of the content.
const sniffed = 512

// ReadFrom implements [io.ReaderFrom] by the ReadFrom of the server's writer, which may let the
// kernel copy.
func (r *response) ReadFrom(src io.Reader) (n int64, err error) {
	server, ok := r.server.(io.ReaderFrom)
	if !ok {
		return io.Copy(written{r}, src)
	}
	var ahead int64 // bytes to write first, to see the first byte and whether the rest fits
	if r.firstByte {
		ahead = sniffed
	}
	if r.held != nil {
		ahead = max(ahead, r.held.left()+1)
	}
	if ahead > 0 {
		if n, err = io.CopyN(written{r}, src, ahead); errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	r.first()
	rest, err := server.ReadFrom(src)
	return n + rest, err
}

// written hides the method ReadFrom of a writer, so that a copy calls its Write.
type written struct{ io.Writer }
