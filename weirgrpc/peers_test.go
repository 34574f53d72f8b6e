package weirgrpc_test

import (
	"context"
	"crypto/tls"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
)

func networks(t testing.TB, prefixes ...string) trust.Peers {
	t.Helper()
	return must.Have(trust.Networks(prefixes...))(t)
}

// TestPeersOfServeHTTP: a server of net/http that serves gRPC as well knows its peers.
func TestPeersOfServeHTTP(t *testing.T) {
	s, got := seesPriority()
	limits := weirgrpc.LimitServer(weirgrpc.One(limittest.Fixed(t, 1, weir.Queue{})), weirgrpc.ServerConfig{Trust: networks(t, "127.0.0.0/8")})
	handler := grpc.NewServer(limits.Options()...)
	testpb.RegisterBenchmarkServiceServer(handler, s)
	client := testpb.NewBenchmarkServiceClient(dial(t, tcptest.ServeHTTP(t, handler).Listener.Addr().String()))
	must.Have(client.UnaryCall(metadata.AppendToOutgoingContext(t.Context(), trust.Key, "critical"), message))(t)
	if p := <-got; p != weir.PriorityCritical {
		t.Errorf("%v, want critical", p)
	}
}

// TestTapAsksWithThePriority that a trusted peer sent: where there is room for it only, it passes.
func TestTapAsksWithThePriority(t *testing.T) {
	critical := onlyFor{limittest.Fixed(t, 2, weir.Queue{}), weir.PriorityCritical}
	client := limited(t, &service{}, critical, weirgrpc.ServerConfig{Trust: networks(t, "127.0.0.1")})
	call := func(priority string) error {
		_, err := client.UnaryCall(metadata.AppendToOutgoingContext(t.Context(), trust.Key, priority), &testpb.SimpleRequest{})
		return err
	}
	for _, priority := range []string{"critical", "critical"} {
		if err := call(priority); err != nil {
			t.Errorf("%s: %v", priority, err)
		}
	}
	if err := call("high"); err == nil {
		t.Error("a lower one passed")
	}
	if n := critical.Snapshot().Admitted; n != 2 {
		t.Errorf("%d admitted, want 2", n)
	}
}

// onlyFor is full for all priorities but one.
type onlyFor struct {
	*weir.Limiter
	priority weir.Priority
}

func (o onlyFor) Full(ctx context.Context) error {
	if weir.PriorityFrom(ctx) != o.priority {
		return &weir.RefusedError{Reason: weir.ReasonQueueFull}
	}
	return nil
}

// TestPriorityIsSentOn by a client, once, and replaces one that was set by hand.
func TestPriorityIsSentOn(t *testing.T) {
	claims := make(chan []string, 1)
	claim := func(ctx context.Context) error {
		claims <- metadata.ValueFromIncomingContext(ctx, trust.Key)
		return nil
	}
	addr := start(t, &service{unary: claim, stream: func(stream echoServer) error { return claim(stream.Context()) }})
	lim := limittest.Fixed(t, 1, weir.Queue{})
	client := testpb.NewBenchmarkServiceClient(dial(t, addr, weirgrpc.LimitClient(weirgrpc.One(lim)).Options()...))
	for _, p := range []weir.Priority{weir.PriorityCritical, weir.PriorityNormal, weir.PriorityLow} {
		ctx := weir.WithPriority(t.Context(), p)
		if p == weir.PriorityCritical {
			ctx = metadata.AppendToOutgoingContext(ctx, trust.Key, "low", "other", "kept")
		}
		for _, call := range []func(){
			func() { must.Have(client.UnaryCall(ctx, message))(t) },
			func() { open(ctx, t, client) },
		} {
			call()
			got := <-claims
			switch {
			case p == weir.PriorityNormal && got != nil:
				t.Errorf("normal: sent %q", got)
			case p != weir.PriorityNormal && (len(got) != 1 || got[0] != p.String()):
				t.Errorf("%v: sent %q", p, got)
			}
		}
	}
	limittest.Check(t, lim, limittest.Taught{Succeeded: 3, Ignored: 3}) // calls and streams
}

// TestMutualTLS trusts a client whose certificate was verified.
func TestMutualTLS(t *testing.T) {
	authority := certstest.New(t)
	known, roots := authority.Pair("client"), authority.Pool()
	for name, c := range map[string]struct {
		auth         tls.ClientAuthType
		certificates []tls.Certificate
		want         weir.Priority
	}{
		"verified":     {tls.VerifyClientCertIfGiven, []tls.Certificate{known}, weir.PriorityCritical},
		"none given":   {tls.VerifyClientCertIfGiven, nil, weir.PriorityNormal},
		"not verified": {tls.RequireAnyClientCert, []tls.Certificate{certstest.New(t).Pair("stranger")}, weir.PriorityNormal},
	} {
		t.Run(name, func(t *testing.T) {
			s, got := seesPriority()
			server := weirgrpc.LimitServer(weirgrpc.One(limittest.Fixed(t, 1, weir.Queue{})), weirgrpc.ServerConfig{Trust: trust.Verified})
			addr := start(t, s,
				append(server.Options(), grpc.Creds(credentials.NewTLS(&tls.Config{
					Certificates: []tls.Certificate{known}, ClientAuth: c.auth, ClientCAs: roots,
				})))...)
			conn := dial(t, addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots, Certificates: c.certificates})))
			ctx := metadata.AppendToOutgoingContext(t.Context(), trust.Key, "critical")
			must.Have(testpb.NewBenchmarkServiceClient(conn).UnaryCall(ctx, &testpb.SimpleRequest{}))(t)
			if p := <-got; p != c.want {
				t.Errorf("%v, want %v", p, c.want)
			}
		})
	}
}

// seesPriority returns a service that sends the priority of each call and stream.
func seesPriority() (*service, chan weir.Priority) {
	got := make(chan weir.Priority, 1)
	return &service{
		unary:  func(ctx context.Context) error { got <- weir.PriorityFrom(ctx); return nil },
		stream: func(s echoServer) error { got <- weir.PriorityFrom(s.Context()); return nil },
	}, got
}

// TestDeadlinesOfPeers that are trusted count. That of a stream counts for none of its messages.
func TestDeadlinesOfPeers(t *testing.T) {
	for name, c := range map[string]struct {
		trusted trust.Peers
		want    bool
	}{
		"trusted":         {networks(t, "127.0.0.0/8"), true},
		"of another net":  {networks(t, "10.0.0.0/8", "::1"), false},
		"none is trusted": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Dated{Limiter: limittest.Fixed(t, 1, weir.Queue{}), Counts: make(chan bool, 1)}
			client := limited(t, &service{}, lim, weirgrpc.ServerConfig{Trust: c.trusted})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			must.Have(client.UnaryCall(ctx, &testpb.SimpleRequest{}))(t)
			if got := <-lim.Counts; got != c.want {
				t.Errorf("a call: counts %v, want %v", got, c.want)
			}
			must.Have(client.StreamingCall(ctx))(t)
			if <-lim.Counts {
				t.Error("that of a stream counts")
			}
		})
	}
}

// TestPriorityOfPeers is that of the handler's context. Attempts lower it, also gRPC's own. Only
// trusted peers are believed.
func TestPriorityOfPeers(t *testing.T) {
	const own = "grpc-previous-rpc-attempts"
	local, critical := networks(t, "127.0.0.0/8"), metadata.MD{trust.Key: {"critical"}}
	for _, c := range []struct {
		trusted trust.Peers
		sent    metadata.MD
		want    weir.Priority
	}{
		{local, critical, weir.PriorityCritical},
		{networks(t, "10.0.0.0/8", "::1"), critical, weir.PriorityNormal},
		{nil, critical, weir.PriorityNormal},
		{local, metadata.MD{trust.AttemptKey: {"2"}}, weir.PriorityLow},
		{local, metadata.MD{trust.AttemptKey: {"2"}, trust.Key: {"critical"}}, weir.PriorityHigh},
		{local, metadata.MD{own: {"1"}}, weir.PriorityLow},
		{local, metadata.MD{own: {"-1"}}, weir.PriorityNormal},
		{local, metadata.MD{own: {"1", "2"}}, weir.PriorityNormal},
		{nil, metadata.MD{trust.AttemptKey: {"2"}, own: {"1"}}, weir.PriorityNormal},
	} {
		s, got := seesPriority()
		client := limited(t, s, limittest.Fixed(t, 1, weir.Queue{}), weirgrpc.ServerConfig{Trust: c.trusted})
		ctx := metadata.NewOutgoingContext(t.Context(), c.sent)
		must.Have(client.UnaryCall(ctx, message))(t)
		if p := <-got; p != c.want {
			t.Errorf("a call with %v: %v, want %v", c.sent, p, c.want)
		}
		must.Have(client.StreamingCall(ctx))(t)
		if p := <-got; p != c.want {
			t.Errorf("a stream with %v: %v, want %v", c.sent, p, c.want)
		}
	}
}
