package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/weir-go/weir/internal/headers"
)

// switchProtocols connects the client to the upstream in another protocol, until both directions
// have ended or one direction has failed.
func (x *exchange) switchProtocols(res *http.Response) error {
	asked, given := headers.UpgradeTo(x.in.Header), headers.UpgradeTo(res.Header)
	if asked == "" || !strings.EqualFold(asked, given) || !headers.IsPrintable(given) {
		return fmt.Errorf("the upstream switched to protocol %q when %q was requested", given, asked)
	}
	upstream, ok := res.Body.(io.ReadWriteCloser)
	if !ok {
		return fmt.Errorf("the connection of protocol %q cannot be written to", given)
	}
	conn, rw, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return fmt.Errorf("hijack for protocol %q: %w", given, err)
	}
	defer conn.Close()
	defer context.AfterFunc(x.ctx, func() { _ = upstream.Close() })()
	headers.RemoveHopByHop(res.Header)
	res.Header["Connection"], res.Header["Upgrade"] = []string{"Upgrade"}, []string{given}
	addAll(x.w.Header(), res.Header)
	res.Header, res.Body = x.w.Header(), nil
	if err := res.Write(rw); err != nil {
		return nil // the client has left
	}
	if err := rw.Flush(); err != nil {
		return nil
	}
	ended := make(chan error, 2)
	go pipe(conn, upstream, ended)
	early, _ := rw.Peek(rw.Reader.Buffered()) // the client did not wait for the 101
	go pipe(upstream, io.MultiReader(bytes.NewReader(early), conn), ended)
	for range 2 { // one side may have closed its half alone
		if err := <-ended; err != nil {
			break
		}
	}
	return nil
}

// pipe copies to the end of from, and then closes the writing half of to, if it has one.
func pipe(to io.Writer, from io.Reader, ended chan<- error) {
	_, err := io.Copy(to, from)
	if err == nil {
		err = errOver
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			err = half.CloseWrite()
		}
	}
	ended <- err
}
