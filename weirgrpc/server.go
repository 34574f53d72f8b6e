package weirgrpc

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/trust"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// previousKey is the metadata by which gRPC's own retries say how many attempts there were before:
// gRFC A6.
const previousKey = "grpc-previous-rpc-attempts"

// ServerConfig has the settings of [LimitServer]. The zero ServerConfig works.
type ServerConfig struct {
	// EachMessage admits each message that a stream receives. The message holds its slot until the
	// handler sends a message, asks for the next message, or returns, whichever is first. So a peer
	// that is slow to send or to read holds no slot. The latency of the message is measured until
	// then. A refused message is an error of RecvMsg. It ends the stream if the handler returns it.
	//
	// By default a stream is admitted when it begins and gives the slot back at once, because the
	// duration of a stream says nothing about load. New streams are refused while the other work of
	// the limiter fills it. The stream itself takes no part of the limit and is not measured.
	EachMessage bool

	// Trust says which peers may set the priority of their calls, by the metadata of [trust.Key].
	// Their retries, by [trust.AttemptKey] or gRPC's own grpc-previous-rpc-attempts, have the next
	// lower priority. Defaults to none: their values are ignored, and each call is Normal.
	Trust trust.Peers
}

// ServerLimits puts limiters in front of the methods of a [grpc.Server]. Make one with
// [LimitServer]. All methods are safe for concurrent use.
type ServerLimits struct {
	methods     *rpc.Methods
	eachMessage bool
	trusted     trust.Peers
	left        *atomic.Int64 // contexts that the tap left behind
}

// LimitServer returns a ServerLimits that runs each call within the limit of the admitter that
// admitterFor names for its method, such as "/pkg.Service/Method": see [One], [ByMethod] and
// [Exempt]. A nil admitter exempts the method. admitterFor may be called concurrently. Its answers
// for the first 1,000 methods are kept.
//
// It panics if admitterFor is nil.
func LimitServer(admitterFor func(fullMethod string) weir.Admitter, cfg ServerConfig) *ServerLimits {
	return &ServerLimits{methods: rpc.NewMethods(admitterFor), eachMessage: cfg.EachMessage, trusted: cfg.Trust, left: new(atomic.Int64)}
}

// Options returns the tap and the interceptors as options for [grpc.NewServer]. The interceptors
// chain: interceptors that NewServer gets before them run around them. A server has one tap, so if
// your server has another tap, use the methods one by one.
func (s *ServerLimits) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.InTapHandle(s.Tap),
		grpc.ChainUnaryInterceptor(s.Unary),
		grpc.ChainStreamInterceptor(s.Stream),
	}
}

// Unary is a [grpc.UnaryServerInterceptor]. The slot is freed when the handler returns, panics, or
// ends its goroutine.
func (s *ServerLimits) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	ctx = s.withPriority(ctx)
	admitter := s.methods.Of(info.FullMethod)
	if admitter == nil {
		return handler(ctx, req)
	}
	permit, err := admitter.Acquire(s.withDeadline(ctx))
	if err != nil {
		refused := newRefusal(ctx, err)
		if pushback := refused.pushback(); pushback != nil {
			_ = grpc.SetTrailer(ctx, pushback) // fails outside of a server only
		}
		return nil, refused
	}
	// There is no recover here, so a panic keeps its stack, and a Goexit is covered too.
	outcome := weir.Failure
	defer func() { permit.Finish(outcome) }()
	resp, err = handler(ctx, req)
	outcome = rpc.OutcomeOnServer(ctx, codeOf(err))
	return resp, err
}

// Stream is a [grpc.StreamServerInterceptor]; see [ServerConfig].
func (s *ServerLimits) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	admitter := s.admitterOfStream(srv, info)
	ctx := stream.Context()
	if s.trusted != nil {
		ctx = s.withPriority(ctx)
		stream = &inContext{stream, ctx}
	}
	switch {
	case admitter == nil:
		return handler(srv, stream)
	case s.eachMessage:
		messages := &serverMessages{ServerStream: stream, admitter: admitter}
		return messages.turn.Run(ctx, codeOf, func() error { return handler(srv, messages) })
	}
	permit, err := admitter.Acquire(deadline.Stranger(ctx)) // the deadline is of the whole stream
	if err != nil {
		return refuseStream(stream, err)
	}
	permit.Release()
	return handler(srv, stream)
}

// admitterOfStream returns the admitter of a stream's method. It does not remember methods that
// reach grpc.UnknownServiceHandler, which has no srv, because clients can invent such methods.
func (s *ServerLimits) admitterOfStream(srv any, info *grpc.StreamServerInfo) weir.Admitter {
	if srv == nil {
		return s.methods.Invented(info.FullMethod)
	}
	return s.methods.Of(info.FullMethod)
}

// withPriority returns ctx with the priority that its peer sent, and a lower one for a retry, if
// the peer is trusted.
func (s *ServerLimits) withPriority(ctx context.Context) context.Context {
	if !s.trusts(ctx) {
		return ctx
	}
	return trust.Told(ctx, metadata.ValueFromIncomingContext(ctx, trust.Key), attemptOf(ctx))
}

// withDeadline returns ctx. The law uses its deadline only if the peer is trusted.
func (s *ServerLimits) withDeadline(ctx context.Context) context.Context {
	if _, dated := ctx.Deadline(); !dated || s.trusts(ctx) {
		return ctx
	}
	return deadline.Stranger(ctx)
}

func (s *ServerLimits) trusts(ctx context.Context) bool {
	from, ok := peer.FromContext(ctx)
	if !ok || s.trusted == nil {
		return false
	}
	if info, ok := from.AuthInfo.(credentials.TLSInfo); ok {
		return s.trusted(trust.FromAddr(from.Addr, &info.State))
	}
	return s.trusted(trust.FromAddr(from.Addr, nil))
}

// attemptOf returns the number of the attempt that a client sent. gRPC's own retries count the
// attempts before them.
func attemptOf(ctx context.Context) []string {
	if previous := metadata.ValueFromIncomingContext(ctx, previousKey); len(previous) == 1 {
		if n, err := strconv.ParseUint(previous[0], 10, 31); err == nil {
			return []string{strconv.FormatUint(n+1, 10)}
		}
	}
	return metadata.ValueFromIncomingContext(ctx, trust.AttemptKey)
}
