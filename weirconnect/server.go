package weirconnect

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/internal/rpc"
)

// ServerConfig has the settings of [LimitServer]. The zero ServerConfig works.
type ServerConfig struct {
	// EachMessage admits each message that a stream receives. The message holds its slot until the
	// handler sends a message, asks for the next message, or returns, whichever is first. So a peer
	// that is slow to send or to read holds no slot. The latency of the message is measured until
	// then. A refused message is an error of Receive. It ends the stream if the handler returns it.
	//
	// By default a stream is admitted when it begins and gives the slot back at once, because the
	// duration of a stream says nothing about load. New streams are refused while the other work of
	// the limiter fills it. The stream itself takes no part of the limit and is not measured.
	EachMessage bool
}

// ServerLimits puts limiters in front of the handlers of Connect, for all its protocols. It is a
// [connect.Interceptor]. Make one with [LimitServer]. All methods are safe for concurrent use.
type ServerLimits struct {
	methods     *rpc.Methods
	eachMessage bool
}

// LimitServer returns a ServerLimits that runs each call within the limit of the admitter that
// admitterFor names for its procedure, such as "/pkg.Service/Method": see [One], [ByMethod] and
// [Exempt]. A nil admitter exempts the procedure. admitterFor may be called concurrently. Its
// answers for the first 1,000 procedures are kept.
//
// It panics if admitterFor is nil.
func LimitServer(admitterFor func(procedure string) weir.Admitter, cfg ServerConfig) *ServerLimits {
	return &ServerLimits{methods: rpc.NewMethods(admitterFor), eachMessage: cfg.EachMessage}
}

// Option returns the gate and the interceptor as one option for the handlers of Connect.
// Interceptors of options before it run around the interceptor.
func (s *ServerLimits) Option() connect.HandlerOption {
	return connect.WithHandlerOptions(connect.WithRequestGate(s.Gate), connect.WithInterceptors(s))
}

// Gate is a [connect.RequestGateFunc]. While the limiter of the procedure is full it refuses the
// call before its message is read or decoded. It never waits and takes no slot; the interceptor
// does that. A call that it refuses reaches no interceptor; it is in the limiter's own snapshot and
// events.
func (s *ServerLimits) Gate(ctx context.Context, spec connect.Spec, peer connect.Peer, _ http.Header) (context.Context, error) {
	admitter := s.methods.Of(spec.Procedure)
	if admitter == nil {
		return ctx, nil
	}
	if err := weir.Full(ctx, admitter); err != nil {
		return ctx, refusal(ctx, err, peer.Protocol)
	}
	return ctx, nil
}

// WrapUnary limits the calls of handlers; the slot is freed when the handler returns, panics, or
// ends its goroutine.
func (s *ServerLimits) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		spec := req.Spec()
		if spec.IsClient {
			return next(ctx, req)
		}
		admitter := s.methods.Of(spec.Procedure)
		if admitter == nil {
			return next(ctx, req)
		}
		permit, err := admitter.Acquire(deadline.Stranger(ctx)) // the connection is not known here
		if err != nil {
			return nil, refusal(ctx, err, req.Peer().Protocol)
		}
		// There is no recover here, so a panic keeps its stack, and a Goexit is covered too.
		outcome := weir.Failure
		defer func() { permit.Finish(outcome) }()
		res, err := next(ctx, req)
		outcome = rpc.OutcomeOnServer(ctx, codeOf(err))
		return res, err
	}
}

// WrapStreamingHandler limits the streams of handlers; see [ServerConfig].
func (s *ServerLimits) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		admitter := s.methods.Of(conn.Spec().Procedure)
		switch {
		case admitter == nil:
			return next(ctx, conn)
		case s.eachMessage:
			messages := &serverMessages{StreamingHandlerConn: conn, ctx: ctx, admitter: admitter}
			return messages.turn.Run(ctx, codeOf, func() error { return next(ctx, messages) })
		}
		permit, err := admitter.Acquire(deadline.Stranger(ctx))
		if err != nil {
			return refusal(ctx, err, conn.Peer().Protocol)
		}
		permit.Release()
		return next(ctx, conn)
	}
}

// WrapStreamingClient returns next: ServerLimits does not limit clients.
func (s *ServerLimits) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}
