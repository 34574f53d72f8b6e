package weirgrpc

import (
	"context"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
	"google.golang.org/grpc"
)

// inContext is a stream with another context.
type inContext struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // a stream has one
}

func (s *inContext) Context() context.Context { return s.ctx }

// serverMessages is a stream that takes a slot for each message it receives.
type serverMessages struct {
	grpc.ServerStream
	admitter weir.Admitter
	turn     rpc.Turn
}

func (s *serverMessages) run(srv any, handler grpc.StreamHandler) (err error) {
	outcome := weir.Failure // should the handler panic, or end its goroutine
	defer func() { s.turn.End(outcome, 0) }()
	err = handler(srv, s)
	outcome = rpc.OutcomeOnServer(s.Context(), codeOf(err))
	return err
}

func (s *serverMessages) RecvMsg(m any) error {
	s.turn.Served(s.Context())
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	if err := s.turn.Take(s.Context(), s.admitter); err != nil {
		return refuseStream(s.ServerStream, err)
	}
	return nil
}

func (s *serverMessages) SendMsg(m any) error {
	s.turn.Served(s.Context())
	return s.ServerStream.SendMsg(m)
}

// refuseStream returns the status of a refusal, and leaves the pushback in the trailer.
func refuseStream(stream grpc.ServerStream, err error) error {
	refused := newRefusal(stream.Context(), err)
	if pushback := refused.pushback(); pushback != nil {
		stream.SetTrailer(pushback)
	}
	return refused
}

// clientMessages is a stream that takes a slot for each message it sends.
type clientMessages struct {
	grpc.ClientStream
	ctx      context.Context //nolint:containedctx // the caller's, which a stream has
	admitter weir.Admitter
	sends    bool // messages are sent one by one
	answers  bool // messages come back one by one
	turn     rpc.Turn
}

// begin opens the stream. The only message of a client has its slot before: generated code forgets
// the stream when that message fails, and so would leave it open.
func (s *clientMessages) begin(open func() (grpc.ClientStream, error)) (_ grpc.ClientStream, err error) {
	if !s.sends {
		if err := s.turn.Take(s.ctx, s.admitter); err != nil {
			return nil, newRefusal(s.ctx, err)
		}
	}
	opened := false
	defer func() {
		if !opened { // nothing if finish came before
			s.turn.End(weir.Failure, 0)
		}
	}()
	if s.ClientStream, err = open(); err != nil {
		s.finish(err)
		return nil, err
	}
	opened = true
	return s, nil
}

// finish gives back the slot of the last message.
func (s *clientMessages) finish(err error) { s.turn.End(clientOutcome(s.ctx, err)) }

func (s *clientMessages) SendMsg(m any) error {
	if s.sends {
		if err := s.turn.Take(s.ctx, s.admitter); err != nil {
			return newRefusal(s.ctx, err)
		}
	}
	err := s.ClientStream.SendMsg(m)
	if !s.answers || err != nil {
		s.turn.Give(weir.Ignore) // RecvMsg returns the error
	}
	return err
}

func (s *clientMessages) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil {
		s.turn.Give(weir.Success)
		return nil
	}
	s.finish(err)
	return err
}
