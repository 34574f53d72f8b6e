package weirconnect_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirconnect"
	"github.com/weir-go/weir/weirhttp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"
)

func newClient(t testing.TB, cfg retry.Config) *retry.Client {
	t.Helper()
	return must.Have(retry.New(cfg))(t)
}

// downstream is a server in memory that ends its first call with an error, and all others well. It
// notes its calls.
type downstream struct {
	err      error
	at       []time.Time
	sent     []http.Header
	handler  *connect.Handler
	retrying *retry.Client
}

func newDownstream(t testing.TB, err error) *downstream {
	d := &downstream{err: err, retrying: newClient(t, retry.Config{})}
	d.handler = connect.NewUnaryHandler(unaryCall, func(_ context.Context, req *connect.Request[bytes]) (*connect.Response[bytes], error) {
		d.at, d.sent = append(d.at, time.Now()), append(d.sent, req.Header().Clone())
		if len(d.at) == 1 && d.err != nil {
			return nil, d.err
		}
		return connect.NewResponse(&bytes{}), nil
	})
	return d
}

// Do implements [connect.HTTPClient].
func (d *downstream) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, req)
	return w.Result(), nil
}

func (d *downstream) call(ctx context.Context, opts ...connect.ClientOption) error {
	opts = append([]connect.ClientOption{connect.WithInterceptors(weirconnect.RetryClient(d.retrying))}, opts...)
	return call(ctx, connect.NewClient[bytes, bytes](d, "http://x"+unaryCall, opts...))
}

// says is the error of a server, with RetryInfo unless after is below 0, and pushbacks.
func says(code connect.Code, after time.Duration, pushback ...string) *connect.Error {
	err := connect.NewError(code, errors.New("no"))
	if after >= 0 {
		detail, _ := connect.NewErrorDetail(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
		err.AddDetail(detail)
	}
	err.Meta()["Grpc-Retry-Pushback-Ms"] = pushback
	return err
}

func TestWhatIsSentAgain(t *testing.T) {
	const none = -1 // no RetryInfo
	type span struct{ least, most time.Duration }
	backoff, second := span{50 * time.Millisecond, 150 * time.Millisecond}, span{time.Second, 2 * time.Second}
	for name, c := range map[string]struct {
		err   error
		level connect.IdempotencyLevel
		again span // zero: it is not sent again
	}{
		"refused by a server":       {err: says(connect.CodeResourceExhausted, time.Second), again: second},
		"unavailable":               {err: says(connect.CodeUnavailable, none)},
		"pushback before RetryInfo": {err: says(connect.CodeResourceExhausted, 5*time.Second, "1000"), again: second},
		"pushback forbids":          {err: says(connect.CodeResourceExhausted, time.Second, "-1")},
		"read, unavailable":         {err: says(connect.CodeUnavailable, none), level: connect.IdempotencyNoSideEffects, again: backoff},
		"idempotent, forbidden":     {err: says(connect.CodeUnavailable, none, "-1"), level: connect.IdempotencyIdempotent},
		"done":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDownstream(t, c.err)
				err := d.call(t.Context(), connect.WithIdempotency(c.level))
				if c.again == (span{}) {
					if len(d.at) != 1 || c.err != nil && connect.CodeOf(err) != connect.CodeOf(c.err) {
						t.Errorf("%d attempts, error %v", len(d.at), err)
					}
					return
				}
				if len(d.at) != 2 || err != nil {
					t.Fatalf("%d attempts, error %v", len(d.at), err)
				}
				if waited := d.at[1].Sub(d.at[0]); waited < c.again.least || waited > c.again.most {
					t.Errorf("waited for %v, want %v to %v", waited, c.again.least, c.again.most)
				}
			})
		})
	}
}

// TestWhatARetrySays to the server; a request that is sent once more says nothing of the calls
// before.
func TestWhatARetrySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDownstream(t, says(connect.CodeResourceExhausted, 0))
		client := connect.NewClient[bytes, bytes](d, "http://x"+unaryCall, connect.WithInterceptors(weirconnect.RetryClient(d.retrying)))
		req := connect.NewRequest(&bytes{})
		req.Header().Set(weirhttp.PriorityHeader, "low") // by hand
		for _, p := range []weir.Priority{weir.PriorityHigh, weir.PriorityNormal} {
			must.Have(client.CallUnary(weir.WithPriority(t.Context(), p), req))(t)
		}
		var sent [][2]string
		for _, h := range d.sent {
			sent = append(sent, [2]string{h.Get(weirhttp.PriorityHeader), h.Get(weirhttp.AttemptHeader)})
		}
		if want := [][2]string{{"high", ""}, {"high", "2"}, {"low", ""}}; !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
	})
}

// A client that leaves during its second attempt.
type leaving struct {
	*downstream
	leave     func()
	sent, was []http.Header
}

func (l *leaving) Do(req *http.Request) (*http.Response, error) {
	l.sent, l.was = append(l.sent, req.Header), append(l.was, req.Header.Clone())
	if len(l.sent) == 2 {
		l.leave()
		return nil, context.Canceled
	}
	return l.downstream.Do(req.Clone(req.Context())) // a handler of Connect changes its header
}

// net/http may still read a header of a cancelled call that has returned. A change of the header
// would end the process by "concurrent map read and map write".
func TestHeadersOfACancelledCallStay(t *testing.T) {
	limits := weirconnect.LimitClient(weirconnect.One(limittest.Fixed(t, 1, weir.Queue{})))
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(weir.WithPriority(t.Context(), weir.PriorityHigh))
		l := &leaving{downstream: newDownstream(t, says(connect.CodeResourceExhausted, 0)), leave: leave}
		both := connect.WithInterceptors(weirconnect.RetryClient(l.retrying), limits)
		if err := call(ctx, connect.NewClient[bytes, bytes](l, "http://x"+unaryCall, both)); connect.CodeOf(err) != connect.CodeCanceled {
			t.Fatal(err)
		}
		for i, was := range l.was {
			if !maps.EqualFunc(l.sent[i], was, slices.Equal) {
				t.Errorf("attempt %d: sent %v, now %v", i+1, was, l.sent[i])
			}
		}
	})
}

// TestRetriesEnd with the context.
func TestRetriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leaving, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { leave(io.ErrClosedPipe) })
		d := newDownstream(t, says(connect.CodeResourceExhausted, 4*time.Second))
		if err := d.call(leaving); connect.CodeOf(err) != connect.CodeCanceled || !errors.Is(err, io.ErrClosedPipe) || len(d.at) != 1 {
			t.Errorf("%v after %d attempts", err, len(d.at))
		}
	})
}

// TestRetryOverARealConnection by each protocol: a server that is full at first, and behind
// [weirhttp.Trust].
func TestRetryOverARealConnection(t *testing.T) {
	for name, protocol := range map[string]connect.ClientOption{
		connect.ProtocolConnect: connect.WithProtoJSON(), connect.ProtocolGRPC: connect.WithGRPC(), connect.ProtocolGRPCWeb: connect.WithGRPCWeb(),
	} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 1, weir.Queue{})
			got := make(chan weir.Priority, 1)
			limits := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
			srv := start(t, &service{unary: func(ctx context.Context) error { got <- weir.PriorityFrom(ctx); return nil }}, 2, limits.Option())
			rc := newClient(t, retry.Config{Backoff: time.Millisecond})
			empty := limittest.Fill(t, lim)
			once := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
				return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
					res, err := next(ctx, req)
					empty() // more than once does nothing
					return res, err
				}
			})
			must.Do(t, call(t.Context(), caller(srv, protocol, connect.WithInterceptors(weirconnect.RetryClient(rc), once))))
			if p := <-got; p != weir.PriorityLow {
				t.Errorf("the retry has priority %v, want the next lower one, low", p)
			}
			if s := rc.Snapshot(); s.Attempts != 2 || s.Retries != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestStreamsAndServersAreLeftAlone by the interceptor.
func TestStreamsAndServersAreLeftAlone(t *testing.T) {
	rc := newClient(t, retry.Config{})
	both := connect.WithInterceptors(weirconnect.RetryClient(rc))
	srv := start(t, &service{}, 2, both)
	stream := streamer(srv, both).CallBidiStream(t.Context())
	exchange(t, stream)
	finish(t, stream)
	must.Do(t, call(t.Context(), caller(srv)))
	if s := rc.Snapshot(); s != (retry.Snapshot{}) {
		t.Errorf("%+v", s)
	}
	if trust.AttemptKey != "weir-attempt" || http.CanonicalHeaderKey(trust.AttemptKey) != weirhttp.AttemptHeader {
		t.Error("gRPC and HTTP have different names for the attempt")
	}
}

// TestServerThatRefusesAll is sent nothing for the time that it names, in its status or trailer.
func TestServerThatRefusesAll(t *testing.T) {
	for name, no := range map[string]error{
		"RetryInfo": says(connect.CodeResourceExhausted, 5*time.Second),
		"trailer":   says(connect.CodeUnavailable, -1, "5000"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := limittest.Fixed(t, 2, weir.Queue{})
				call := weirconnect.LimitClient(weirconnect.One(lim)).WrapUnary(
					func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) { return nil, no })
				request := clientRequest{connect.NewRequest(&durationpb.Duration{})}
				for range 32 {
					time.Sleep(40 * time.Millisecond)
					_, _ = call(t.Context(), request)
				}
				if _, err := call(t.Context(), request); !errors.Is(err, weir.ErrPushback) {
					t.Errorf("%v, want pushback", err)
				}
			})
		})
	}
}

// clientRequest is a request as the interceptors of a client see it.
type clientRequest struct{ connect.AnyRequest }

func (clientRequest) Spec() connect.Spec { return connect.Spec{IsClient: true, Procedure: "/a.B/C"} }

// A refusal that names no time to come back, and a negative one, ask for no retry.
func TestNoTimeToComeBack(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	lim.Close()
	limits := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
	_, closed := limits.Gate(t.Context(), connect.Spec{Procedure: unaryCall}, connect.Peer{}, nil)
	negative := connect.NewError(connect.CodeUnavailable, io.ErrClosedPipe)
	negative.AddDetail(must.Have(connect.NewErrorDetail(&errdetails.RetryInfo{RetryDelay: durationpb.New(-time.Second)}))(t))
	for _, err := range []error{closed, negative} {
		if after, told := weirconnect.RetryAfter(err); after != 0 || told {
			t.Errorf("%v: %v, %t", err, after, told)
		}
	}
}
