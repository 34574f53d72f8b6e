package weirconnect

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
)

// serverMessages is a stream that takes a slot for each message it receives.
type serverMessages struct {
	connect.StreamingHandlerConn
	ctx      context.Context //nolint:containedctx // a stream has one
	admitter weir.Admitter
	turn     rpc.Turn
}

func (s *serverMessages) Receive(m any) error {
	s.turn.Served(s.ctx)
	err := s.StreamingHandlerConn.Receive(m)
	if !s.begins(err) {
		return err
	}
	if refused := s.turn.Take(s.ctx, s.admitter); refused != nil {
		return refusal(s.ctx, refused, s.Peer().Protocol)
	}
	return err
}

// begins reports whether work begins once Receive has returned err. Where the client sends one
// message only, Connect looks for the end of the request before the handler runs.
func (s *serverMessages) begins(err error) bool {
	if s.Spec().StreamType&connect.StreamTypeClient == 0 {
		return errors.Is(err, io.EOF)
	}
	return err == nil
}

func (s *serverMessages) Send(m any) error {
	if m != nil { // a nil sends the header
		s.turn.Served(s.ctx)
	}
	return s.StreamingHandlerConn.Send(m)
}
