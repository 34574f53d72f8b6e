package weirconnect

import (
	"net/http"

	"connectrpc.com/connect"
)

// refusedConn is a client's stream that was not admitted. It sends nothing: Send and Receive return
// the error of the refusal.
type refusedConn struct {
	spec              connect.Spec
	request, response http.Header
	err               error
}

func (c *refusedConn) Spec() connect.Spec           { return c.spec }
func (c *refusedConn) Peer() connect.Peer           { return connect.Peer{} }
func (c *refusedConn) Send(any) error               { return c.err }
func (c *refusedConn) Receive(any) error            { return c.err }
func (c *refusedConn) RequestHeader() http.Header   { return c.request }
func (c *refusedConn) ResponseHeader() http.Header  { return c.response }
func (c *refusedConn) ResponseTrailer() http.Header { return c.response }
func (c *refusedConn) CloseRequest() error          { return nil }
func (c *refusedConn) CloseResponse() error         { return nil }
