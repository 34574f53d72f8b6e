package weirgrpc_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// TestPanicOfTheInvoker frees the slot.
func TestPanicOfTheInvoker(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	limits := weirgrpc.LimitClient(weirgrpc.One(lim))
	func() {
		defer func() { _ = recover() }()
		_ = limits.Unary(t.Context(), unaryCall, nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { panic("broken") })
	}()
	limittest.Check(t, lim, limittest.Taught{Failed: 1})
}

// The options of a call may be shared with other calls.
func TestOptionsOfTheCallerAreLeftAlone(t *testing.T) {
	limits, retries := weirgrpc.LimitClient(weirgrpc.One(limittest.Fixed(t, 1, weir.Queue{}))), weirgrpc.RetryClient(newClient(t, retry.Config{}))
	for name, unary := range map[string]grpc.UnaryClientInterceptor{"limits": limits.Unary, "retries": retries.Unary} {
		shared := make([]grpc.CallOption, 0, 1)
		must.Do(t, unary(t.Context(), unaryCall, nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }, shared...))
		if got := shared[:1][0]; got != nil {
			t.Errorf("%s: %T was put among them", name, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	with := func(delay *durationpb.Duration) error {
		s := must.Have(status.New(codes.ResourceExhausted, "").WithDetails(&errdetails.DebugInfo{}, &errdetails.RetryInfo{RetryDelay: delay}))(t)
		return fmt.Errorf("wrapped: %w", s.Err())
	}
	for _, c := range []struct {
		err  error
		want time.Duration
		ok   bool
	}{
		{nil, 0, false},
		{errors.New("plain"), 0, false},
		{status.Error(codes.ResourceExhausted, ""), 0, false},
		{with(nil), 0, false},
		{with(durationpb.New(1500 * time.Millisecond)), 1500 * time.Millisecond, true},
		{with(durationpb.New(0)), 0, true},
		{with(durationpb.New(-time.Second)), 0, false},
		{with(&durationpb.Duration{Seconds: 1 << 62}), 0, false},
	} {
		if got, ok := weirgrpc.RetryAfter(c.err); got != c.want || ok != c.ok {
			t.Errorf("%v: %v %v, want %v %v", c.err, got, ok, c.want, c.ok)
		}
	}
}

// TestClassify: a refused call may come back when the server said, and not if it said nothing.
func TestClassify(t *testing.T) {
	for after, want := range map[time.Duration]retry.Answer{
		time.Second: {Outcome: weir.Overloaded, RetryAfter: time.Second},
		-1:          {Outcome: weir.Overloaded, Final: true},
	} {
		if got := weirgrpc.Classify(says(codes.ResourceExhausted, after)); got != want {
			t.Errorf("after %v: %+v, want %+v", after, got, want)
		}
	}
}

// TestServerThatRefusesAll is sent nothing for the time that it names, in its status or trailer.
func TestServerThatRefusesAll(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		trailer metadata.MD
		stream  bool
	}{
		"RetryInfo": {err: says(codes.ResourceExhausted, 5*time.Second)},
		"trailer":   {err: says(codes.Unavailable, -1), trailer: metadata.Pairs("grpc-retry-pushback-ms", "5000")},
		"a stream":  {err: says(codes.ResourceExhausted, 5*time.Second), stream: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := limittest.Fixed(t, 2, weir.Queue{})
				limits := weirgrpc.LimitClient(weirgrpc.One(lim))
				call := func() error {
					if c.stream {
						_, err := limits.Stream(t.Context(), &grpc.StreamDesc{}, nil, pingPong,
							func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
								return nil, c.err
							})
						return err
					}
					return limits.Unary(t.Context(), unaryCall, nil, nil, nil,
						func(_ context.Context, _ string, _, _ any, _ *grpc.ClientConn, opts ...grpc.CallOption) error {
							for _, o := range opts {
								if o, ok := o.(grpc.TrailerCallOption); ok {
									*o.TrailerAddr = c.trailer
								}
							}
							return c.err
						})
				}
				for range 32 {
					time.Sleep(40 * time.Millisecond)
					_ = call()
				}
				err := call()
				if after, _ := weirgrpc.RetryAfter(err); !errors.Is(err, weir.ErrPushback) || after < 5*time.Second || after > 10*time.Second {
					t.Errorf("%v, which may come back in %v, want pushback for 5 to 10 s", err, after)
				}
			})
		})
	}
}
