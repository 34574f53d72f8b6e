package proxytest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"

	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
)

// curl runs curl and returns the version of HTTP, the status and the size of the answer.
func curl(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"-sS", "-o", "/dev/null", "--max-time", "20", "-w", "%{http_version} %{http_code} %{size_download}"}, args...)
	text, err := exec.Command(installed(t, "curl"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("curl %v: %v\n%s", args, err, text)
	}
	return string(text)
}

// TestClientCurl uses HTTP/1.1 and HTTP/2, with TLS and without.
func TestClientCurl(t *testing.T) {
	trial(t)
	up := startUpstream(t, upstream{})
	plain := newConfigured(t, up)
	plain.write(t, "")
	plain.start(t)
	curls(t, "2", "--http2-prior-knowledge", plain.url)
	curls(t, "1.1", plain.url) // its default
	// curl sends Expect: 100-continue with a body of a megabyte.
	megabyte := must.Write(t, t.TempDir()+"/megabyte", strings.Repeat("x", 1<<20))
	if got := curl(t, "--data-binary", "@"+megabyte, plain.url+"/echo"); got != "1.1 200 1048576" {
		t.Errorf("a megabyte: %s", got)
	}

	secure := newConfigured(t, up)
	authority, folder := certstest.New(t), t.TempDir()
	ca, certificate, key := folder+"/ca.pem", folder+"/certificate.pem", folder+"/key.pem"
	must.Write(t, ca, authority.PEM())
	authority.Write("weir", certificate, key)
	secure.write(t, "")
	encrypt(t, secure.file, certificate, key)
	secure.start(t)
	url := strings.Replace(secure.url, "http:", "https:", 1)
	curls(t, "2", "--cacert", ca, url)
	curls(t, "1.1", "--http1.1", "--cacert", ca, url)
}

// encrypt adds a certificate to the only listener of a file.
func encrypt(t *testing.T, file, certificate, key string) {
	t.Helper()
	text := must.Have(os.ReadFile(file))(t)
	tls := fmt.Sprintf("    tls: {certificate: %q, key: %q}\nupstreams:", certificate, key)
	must.Write(t, file, strings.Replace(string(text), "upstreams:", tls, 1))
}

// curls uses the URL, the last argument, to get a page and a megabyte, and to send a
// megabyte.
func curls(t *testing.T, version string, args ...string) {
	t.Helper()
	url := args[len(args)-1]
	args = args[:len(args)-1]
	for _, ask := range []struct {
		args []string
		want string
	}{
		{[]string{url + "/bytes?n=1024"}, "200 1024"},
		{[]string{url + "/bytes?n=1048576"}, "200 1048576"},
		{[]string{"--data-binary", "body", url + "/echo"}, "200 4"},
		{[]string{"-H", "Transfer-Encoding: chunked", "--data-binary", "body", url + "/echo"}, "200 4"},
		{[]string{"-I", url + "/bytes?n=1024"}, "200 0"},
		{[]string{url + "/missing"}, "404 19"},
		{[]string{url + "/slow?for=1100ms"}, "200 12"},
	} {
		if got := curl(t, append(append([]string{}, args...), ask.args...)...); got != version+" "+ask.want {
			t.Errorf("curl %v %v: %s, want %s %s", args, ask.args, got, version, ask.want)
		}
	}
}

func TestClientWebSocket(t *testing.T) {
	trial(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ready" {
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // the client sees the error
		}
		defer conn.CloseNow()
		conn.SetReadLimit(2 << 20)
		for {
			kind, message, err := conn.Read(t.Context())
			if err == nil {
				err = conn.Write(t.Context(), kind, message)
			}
			if err != nil {
				if websocket.CloseStatus(err) != websocket.StatusNormalClosure {
					t.Errorf("the server: %v", err)
				}
				return
			}
		}
	}))
	defer server.Close()
	p := startWeir(t, peer{url: server.URL})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, p.url+"/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(2 << 20)
	for n := range 100 {
		sent := bytes.Repeat([]byte{byte(n)}, 1+n*n*100) // up to a megabyte
		must.Do(t, conn.Write(ctx, websocket.MessageBinary, sent))
		if _, got, err := conn.Read(ctx); err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("message %d of %d bytes came back with %d, %v", n, len(sent), len(got), err)
		}
	}
	must.Do(t, conn.Close(websocket.StatusNormalClosure, ""))
	must.Happen(t, "the WebSocket holds no slot", func() bool { return p.counts(t).InFlight == 0 })
}

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
	must.Happen(t, "no call holds a slot", func() bool { return p.counts(t).InFlight == 0 })
}
