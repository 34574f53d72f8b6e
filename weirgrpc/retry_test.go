package weirgrpc_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb" // its file is imported by declare
)

func newClient(t testing.TB, cfg retry.Config) *retry.Client {
	t.Helper()
	return must.Have(retry.New(cfg))(t)
}

// downstream is an invoker that ends its first call with an error, and all others well. It notes
// its calls.
type downstream struct {
	err      error
	pushback []string
	at       []time.Time
	sent     []metadata.MD
}

func (d *downstream) invoke(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, opts ...grpc.CallOption) error {
	sent, _ := metadata.FromOutgoingContext(ctx)
	d.at, d.sent = append(d.at, time.Now()), append(d.sent, sent)
	if len(d.at) > 1 {
		return nil
	}
	for _, opt := range opts {
		if trailer, ok := opt.(grpc.TrailerCallOption); ok {
			*trailer.TrailerAddr = metadata.MD{"grpc-retry-pushback-ms": d.pushback}
		}
	}
	return d.err
}

// says is the error of a server, with RetryInfo unless after is below 0.
func says(code codes.Code, after time.Duration) error {
	s := status.New(code, "no")
	if after >= 0 {
		s, _ = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
	}
	return s.Err()
}

// declare registers a service whose methods have the idempotency levels of their names.
var declare = func() error {
	method := func(name string, level descriptorpb.MethodOptions_IdempotencyLevel) *descriptorpb.MethodDescriptorProto {
		return &descriptorpb.MethodDescriptorProto{
			Name: &name, InputType: new(".google.protobuf.Empty"), OutputType: new(".google.protobuf.Empty"),
			Options: &descriptorpb.MethodOptions{IdempotencyLevel: &level},
		}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("weir_retry_test.proto"), Package: new("weir.retry"), Dependency: []string{"google/protobuf/empty.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: new("Store"), Method: []*descriptorpb.MethodDescriptorProto{
			method("Add", descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN),
			method("Get", descriptorpb.MethodOptions_NO_SIDE_EFFECTS),
			method("Put", descriptorpb.MethodOptions_IDEMPOTENT),
		}}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		return err
	}
	return protoregistry.GlobalFiles.RegisterFile(file)
}()

func TestWhatIsSentAgain(t *testing.T) {
	if declare != nil {
		t.Fatal(declare)
	}
	const none = -1 // no RetryInfo
	type span struct{ least, most time.Duration }
	backoff, second := span{50 * time.Millisecond, 150 * time.Millisecond}, span{time.Second, 2 * time.Second}
	for name, c := range map[string]struct {
		method   string
		err      error
		pushback []string
		again    span // zero: it is not sent again
	}{
		"refused by a server":       {err: says(codes.ResourceExhausted, time.Second), again: second},
		"connection lost":           {err: says(codes.Unavailable, none)},
		"pushback before RetryInfo": {err: says(codes.ResourceExhausted, 5*time.Second), pushback: []string{"1000"}, again: second},
		"pushback forbids":          {err: says(codes.ResourceExhausted, time.Second), pushback: []string{"-1"}},
		"read, connection lost":     {method: "/weir.retry.Store/Get", err: says(codes.Unavailable, none), again: backoff},
		"idempotent, forbidden":     {method: "/weir.retry.Store/Put", err: says(codes.Unavailable, none), pushback: []string{"-1"}},
		"not declared idempotent":   {method: "/weir.retry.Store/Add", err: says(codes.Unavailable, none)},
		"a service, not a method":   {method: "/weir.retry/Store", err: says(codes.Unavailable, none)},
		"refused by our limiter":    {err: &weir.RefusedError{Reason: weir.ReasonQueueFull, RetryAfter: time.Second}, again: second},
		"done":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &downstream{err: c.err, pushback: c.pushback}
				err := weirgrpc.RetryClient(newClient(t, retry.Config{})).Unary(t.Context(), c.method, nil, nil, nil, d.invoke)
				if c.again == (span{}) {
					if len(d.at) != 1 || !errors.Is(err, c.err) {
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

// TestWhatARetrySays to the server, in place of values set by hand; first attempts have no
// number.
func TestWhatARetrySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &downstream{err: says(codes.ResourceExhausted, 0)}
		ctx := metadata.AppendToOutgoingContext(weir.WithPriority(t.Context(), weir.PriorityHigh), "other", "kept", trust.Key, "low")
		if err := weirgrpc.RetryClient(newClient(t, retry.Config{})).Unary(ctx, unaryCall, nil, nil, nil, d.invoke); err != nil || len(d.sent) != 2 {
			t.Fatalf("%v after %d attempts", err, len(d.sent))
		}
		for i, attempt := range [][]string{nil, {"2"}} {
			got := d.sent[i]
			if !slices.Equal(got["other"], []string{"kept"}) || !slices.Equal(got[trust.Key], []string{"high"}) || !slices.Equal(got[trust.AttemptKey], attempt) {
				t.Errorf("attempt %d: sent %v", i+1, got)
			}
		}
	})
}

// TestRetriesEnd with the context.
func TestRetriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leaving, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { leave(io.ErrClosedPipe) })
		d := &downstream{err: says(codes.ResourceExhausted, 4*time.Second)}
		err := weirgrpc.RetryClient(newClient(t, retry.Config{})).Unary(leaving, unaryCall, nil, nil, nil, d.invoke)
		if status.Code(err) != codes.Canceled || !errors.Is(err, io.ErrClosedPipe) || len(d.at) != 1 {
			t.Errorf("%v after %d attempts", err, len(d.at))
		}
	})
}

// The retries of a service config would multiply with the client's.
func TestServiceConfigDoesNotRetry(t *testing.T) {
	calls := 0
	addr := start(t, &service{unary: func(context.Context) error {
		calls++
		return status.Error(codes.Unavailable, "no")
	}})
	retries := weirgrpc.RetryClient(newClient(t, retry.Config{Attempts: 2, Backoff: time.Millisecond}))
	conn := dial(t, addr, append(retries.Options(), grpc.WithDefaultServiceConfig(`{"methodConfig": [{"name": [{}], "retryPolicy": {
		"maxAttempts": 5, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`))...)
	_, err := testpb.NewBenchmarkServiceClient(conn).UnaryCall(t.Context(), &testpb.SimpleRequest{})
	if status.Code(err) != codes.Unavailable || calls > 2 {
		t.Errorf("%v after %d calls, want two at most", err, calls)
	}
}
