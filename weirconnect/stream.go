package weirconnect

import (
	"context"
	"errors"
	"io"
	"time"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/rpc"
)

// serverMessages is a stream that takes a slot for each message it receives.
type serverMessages struct {
	connect.StreamingHandlerConn
	ctx      context.Context //nolint:containedctx // a stream has one
	admitter weir.Admitter
	turn     rpc.Turn
}

func (s *serverMessages) run(next connect.StreamingHandlerFunc) (err error) {
	outcome := weir.Failure // should the handler panic, or end its goroutine
	defer func() { s.turn.End(outcome, 0) }()
	err = next(s.ctx, s)
	outcome = rpc.OutcomeOnServer(s.ctx, codeOf(err))
	return err
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

// clientMessages is a stream that takes a slot for each message it sends.
type clientMessages struct {
	connect.StreamingClientConn
	ctx      context.Context //nolint:containedctx // a stream has one
	admitter weir.Admitter
	sends    bool // messages are sent one by one
	answers  bool // messages come back one by one
	turn     rpc.Turn
	stop     func() bool // ends the wait for the end of ctx
}

// begin opens the stream. If the client sends only one message, begin takes its slot first.
// Otherwise a refused message would make Connect send an empty request and wait for the response.
func (s *clientMessages) begin(spec connect.Spec, open func() connect.StreamingClientConn) connect.StreamingClientConn {
	if !s.sends {
		if err := s.turn.Take(s.ctx, s.admitter); err != nil {
			return newRefusedConn(spec, refusal(s.ctx, err, connect.ProtocolConnect))
		}
	}
	opened := false
	defer func() {
		if !opened { // open panicked, or ended its goroutine
			s.turn.End(weir.Failure, 0)
		}
	}()
	s.StreamingClientConn = open()
	opened = true
	s.stop = context.AfterFunc(s.ctx, func() { s.turn.End(edge.ContextOutcome(s.ctx), 0) })
	return s
}

func (s *clientMessages) Send(m any) error {
	if m == nil { // only the header
		return s.StreamingClientConn.Send(nil)
	}
	if s.sends {
		if err := s.turn.Take(s.ctx, s.admitter); err != nil {
			return refusal(s.ctx, err, connect.ProtocolConnect)
		}
	}
	err := s.StreamingClientConn.Send(m)
	if !s.answers || err != nil {
		s.turn.Give(weir.Ignore) // Receive returns the error
	}
	return err
}

func (s *clientMessages) Receive(m any) error {
	err := s.StreamingClientConn.Receive(m)
	if err == nil {
		s.turn.Give(weir.Success)
		return nil
	}
	s.end(clientOutcome(s.ctx, err))
	return err
}

func (s *clientMessages) CloseResponse() error {
	s.end(weir.Ignore, 0)
	return s.StreamingClientConn.CloseResponse()
}

func (s *clientMessages) end(o weir.Outcome, comeBack time.Duration) {
	s.stop()
	s.turn.End(o, comeBack)
}
