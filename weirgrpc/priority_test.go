package weirgrpc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
)

func networks(t testing.TB, prefixes ...string) trust.Peers {
	t.Helper()
	peers, err := trust.Networks(prefixes...)
	if err != nil {
		t.Fatal(err)
	}
	return peers
}

// TestPriorityOfPeers is that of the handler's context, when a client claims to be critical.
func TestPriorityOfPeers(t *testing.T) {
	for name, c := range map[string]struct {
		trusted trust.Peers
		claims  []string
		want    weir.Priority
	}{
		"trusted":          {networks(t, "127.0.0.0/8"), []string{"critical"}, weir.Critical},
		"of another net":   {networks(t, "10.0.0.0/8", "::1"), []string{"critical"}, weir.Normal},
		"none is trusted":  {nil, []string{"critical"}, weir.Normal},
		"no certificate":   {trust.Verified, []string{"critical"}, weir.Normal},
		"two values":       {networks(t, "127.0.0.1"), []string{"critical", "low"}, weir.Normal},
		"no such priority": {networks(t, "127.0.0.1"), []string{"-128"}, weir.Normal},
		"none":             {networks(t, "127.0.0.1"), nil, weir.Normal},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan weir.Priority, 1)
			lim := limittest.Fixed(t, 1, weir.Queue{})
			client := limited(t, &service{
				unary: func(ctx context.Context) error { got <- weir.PriorityFrom(ctx); return nil },
				stream: func(stream grpc.BidiStreamingServer[testpb.SimpleRequest, testpb.SimpleResponse]) error {
					got <- weir.PriorityFrom(stream.Context())
					return nil
				},
			}, lim, weirgrpc.ServerConfig{Trust: c.trusted})
			ctx := metadata.NewOutgoingContext(t.Context(), metadata.MD{trust.Key: c.claims})
			if _, err := client.UnaryCall(ctx, &testpb.SimpleRequest{}); err != nil {
				t.Fatal(err)
			}
			if p := <-got; p != c.want {
				t.Errorf("a call: %v, want %v", p, c.want)
			}
			if _, err := client.StreamingCall(ctx); err != nil {
				t.Fatal(err)
			}
			if p := <-got; p != c.want {
				t.Errorf("a stream: %v, want %v", p, c.want)
			}
		})
	}
}

// TestTapAsksWithThePriority that a trusted peer sent: where there is room for it only, it passes.
func TestTapAsksWithThePriority(t *testing.T) {
	critical := onlyFor{limittest.Fixed(t, 2, weir.Queue{}), weir.Critical}
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
	addr := start(t, &service{unary: func(ctx context.Context) error {
		claims <- metadata.ValueFromIncomingContext(ctx, trust.Key)
		return nil
	}})
	limits := weirgrpc.LimitClient(weirgrpc.One(limittest.Fixed(t, 1, weir.Queue{})), weirgrpc.ClientConfig{})
	client := testpb.NewBenchmarkServiceClient(dial(t, addr, limits.Options()...))
	for _, p := range []weir.Priority{weir.Critical, weir.Normal, weir.Low} {
		ctx := weir.WithPriority(t.Context(), p)
		if p == weir.Critical {
			ctx = metadata.AppendToOutgoingContext(ctx, trust.Key, "low", "other", "kept")
		}
		if _, err := client.UnaryCall(ctx, &testpb.SimpleRequest{}); err != nil {
			t.Fatal(err)
		}
		got := <-claims
		switch {
		case p == weir.Normal && got != nil:
			t.Errorf("normal: sent %q", got)
		case p != weir.Normal && (len(got) != 1 || got[0] != p.String()):
			t.Errorf("%v: sent %q", p, got)
		}
	}
}

// TestMutualTLS trusts a client whose certificate was verified.
func TestMutualTLS(t *testing.T) {
	ca := newAuthority(t)
	for name, c := range map[string]struct {
		auth         tls.ClientAuthType
		certificates []tls.Certificate
		want         weir.Priority
	}{
		"verified":     {tls.VerifyClientCertIfGiven, []tls.Certificate{ca.issue(t, "client")}, weir.Critical},
		"none given":   {tls.VerifyClientCertIfGiven, nil, weir.Normal},
		"not verified": {tls.RequireAnyClientCert, []tls.Certificate{newAuthority(t).issue(t, "stranger")}, weir.Normal},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan weir.Priority, 1)
			server := weirgrpc.LimitServer(weirgrpc.One(limittest.Fixed(t, 1, weir.Queue{})), weirgrpc.ServerConfig{Trust: trust.Verified})
			addr := start(t, &service{unary: func(ctx context.Context) error { got <- weir.PriorityFrom(ctx); return nil }},
				append(server.Options(), grpc.Creds(credentials.NewTLS(&tls.Config{
					Certificates: []tls.Certificate{ca.issue(t, "server")}, ClientAuth: c.auth, ClientCAs: ca.pool,
				})))...)
			conn := dial(t, addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: ca.pool, Certificates: c.certificates})))
			ctx := metadata.AppendToOutgoingContext(t.Context(), trust.Key, "critical")
			if _, err := testpb.NewBenchmarkServiceClient(conn).UnaryCall(ctx, &testpb.SimpleRequest{}); err != nil {
				t.Fatal(err)
			}
			if p := <-got; p != c.want {
				t.Errorf("%v, want %v", p, c.want)
			}
		})
	}
}

// authority signs certificates for 127.0.0.1.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{pool: x509.NewCertPool()}
	self := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	signed := a.sign(t, self)
	a.cert, a.key = signed.Leaf, signed.PrivateKey.(*ecdsa.PrivateKey)
	a.pool.AddCert(a.cert)
	return a
}

func (a authority) issue(t *testing.T, name string) tls.Certificate {
	t.Helper()
	return a.sign(t, &x509.Certificate{DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
}

func (a authority) sign(t *testing.T, c *x509.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}
