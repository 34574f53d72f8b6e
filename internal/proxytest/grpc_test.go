package proxytest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
)

// TestClientGRPC runs grpc-go's interoperation tests through the proxy: all four kinds of
// calls, deadlines, metadata, statuses. A failed interoperation test ends the process with a
// message.
func TestClientGRPC(t *testing.T) {
	trial(t)
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := grpc.NewServer()
	testgrpc.RegisterTestServiceServer(server, interop.NewTestServer())
	go func() { _ = server.Serve(l) }() // until it is stopped
	defer server.Stop()

	p := newConfigured(t, peer{url: "http://" + l.Addr().String()})
	p.protocol = "http2"
	p.write(t, "routes:\n  - {grpc: grpc.testing.TestService/*}\n")
	p.start(t)
	conn := must.Have(grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	defer conn.Close()
	client := testgrpc.NewTestServiceClient(conn)
	for name, call := range map[string]func(context.Context, testgrpc.TestServiceClient, ...grpc.CallOption){
		"empty unary":         interop.DoEmptyUnaryCall,
		"large unary":         interop.DoLargeUnaryCall,
		"client stream":       interop.DoClientStreaming,
		"server stream":       interop.DoServerStreaming,
		"both":                interop.DoPingPong,
		"empty stream":        interop.DoEmptyStream,
		"deadline":            interop.DoTimeoutOnSleepingServer,
		"cancel at the start": interop.DoCancelAfterBegin,
		"cancel later":        interop.DoCancelAfterFirstResponse,
		"metadata":            interop.DoCustomMetadata,
		"status":              interop.DoStatusCodeAndMessage,
		"status with signs":   interop.DoSpecialStatusMessage,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			call(ctx, client)
		})
	}
	must.Happen(t, "no call holds a slot", func() bool { return p.counts(t).inFlight == 0 })
}
