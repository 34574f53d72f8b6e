package weirconnect

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
)

// Streams says which part of a stream takes a slot. How long a stream lives says nothing about
// load, so no slot is held for its life.
type Streams uint8

const (
	// Once admits a stream when it begins and gives the slot back at once. It keeps new streams
	// away while the other work of the limiter fills it; the stream itself takes no part of the
	// limit and is not measured.
	Once Streams = 0

	// EachMessage admits each message. On a server that is a message received: its slot is held
	// until the handler sends a message, asks for the next, or returns, whichever is first, and a
	// peer that is slow to send or to read holds none. On a client it is a message sent: its slot
	// is held until a message comes back, the next is sent, or the stream ends; where only the
	// client streams, until the message is sent. Latency is measured from one message to the
	// answer.
	//
	// A refused message is an error of Receive or Send. It ends the stream if the handler, or the
	// client, returns it.
	EachMessage Streams = 1
)

func (s Streams) checked() Streams {
	if s > EachMessage {
		panic(fmt.Sprintf("weirconnect: Streams is %d: want Once or EachMessage", s))
	}
	return s
}

// serverMessages is a stream that takes a slot for each message it receives.
type serverMessages struct {
	connect.StreamingHandlerConn
	ctx      context.Context //nolint:containedctx // a stream has one
	admitter weir.Admitter
	turn     rpc.Turn
}

func (s *serverMessages) run(next connect.StreamingHandlerFunc) (err error) {
	outcome := weir.Failure // should the handler panic, or end its goroutine
	defer func() { s.turn.End(outcome) }()
	err = next(s.ctx, s)
	outcome = rpc.OutcomeOnServer(s.ctx, codeOf(err))
	return err
}

func (s *serverMessages) Receive(m any) error {
	s.turn.Served(s.ctx)
	if err := s.StreamingHandlerConn.Receive(m); err != nil {
		return err
	}
	if err := s.turn.Take(s.ctx, s.admitter); err != nil {
		return refusal(s.ctx, err, s.Peer().Protocol)
	}
	return nil
}

func (s *serverMessages) Send(m any) error {
	s.turn.Served(s.ctx)
	return s.StreamingHandlerConn.Send(m)
}

// clientMessages is a stream that takes a slot for each message it sends.
type clientMessages struct {
	connect.StreamingClientConn
	ctx      context.Context //nolint:containedctx // a stream has one
	admitter weir.Admitter
	answers  bool // messages come back one by one
	turn     rpc.Turn
	stop     func() bool // ends the wait for the end of ctx
}

func (s *clientMessages) Send(m any) error {
	if err := s.turn.Take(s.ctx, s.admitter); err != nil {
		return refusal(s.ctx, err, connect.ProtocolConnect)
	}
	err := s.StreamingClientConn.Send(m)
	if !s.answers || err != nil {
		s.turn.Give(weir.Ignore) // Receive returns the error
	}
	return err
}

func (s *clientMessages) Receive(m any) error {
	err := s.StreamingClientConn.Receive(m)
	if err == nil && s.answers {
		s.turn.Give(weir.Success)
		return nil
	}
	outcome, _ := clientOutcome(s.ctx, err)
	s.end(outcome)
	return err
}

func (s *clientMessages) CloseResponse() error {
	s.end(weir.Ignore)
	return s.StreamingClientConn.CloseResponse()
}

func (s *clientMessages) end(o weir.Outcome) {
	s.stop()
	s.turn.End(o)
}
