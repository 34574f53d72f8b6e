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
