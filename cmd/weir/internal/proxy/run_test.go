package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

func TestStartsWhileTheUpstreamIsDown(t *testing.T) {
	address := tcptest.FreeAddress(t)
	r := start(t, file("http://"+address, ""))
	if status, _ := r.get("/"); status != http.StatusBadGateway {
		t.Errorf("down: status %d, want 502", status)
	}
	listener := must.Have(net.Listen("tcp", address))(t)
	back := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}}
	back.Start()
	defer back.Close()
	if status, _ := r.get("/"); status != http.StatusOK {
		t.Errorf("up: status %d", status)
	}
}

// A balancer sees that the proxy is not ready, and the proxy still answers the balancer's
// requests.
func TestLameDuck(t *testing.T) {
	t.Parallel()
	a, release := named(t, "a")
	defer release() // otherwise the end of the proxy would wait for it
	// Two requests must be answered within the wait.
	r := start(t, file(a, "shutdown: {wait: 3s}"))
	held := make(chan int, 1)
	go func() {
		status, _ := r.get("/hold")
		held <- status
	}()
	must.Happen(t, "a request runs", func() bool { return r.Snapshot().Total.InFlight == 1 })

	r.stop()
	must.Happen(t, "it is not ready", func() bool {
		status, _ := r.fetch(r.admin + "/ready")
		return status == http.StatusServiceUnavailable
	})
	answer, err := http.Get("http://" + r.address + "/")
	if err != nil {
		t.Fatalf("while it waits it has to serve: %v", err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !answer.Close {
		t.Errorf("while it waits: %s, the connection closes: %v", answer.Status, answer.Close)
	}
	r.refusesConnections()
	release()
	if status := <-held; status != http.StatusOK {
		t.Errorf("the request that ran: status %d", status)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// A request that outlasts the grace has an answer and a line in the log too.
func TestGraceEnds(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, "shutdown: {grace: 20ms}\nlog: {access: true}"))
	status := make(chan int, 1)
	go func() {
		answer, err := http.Get("http://" + r.address + "/hold")
		if err != nil {
			t.Error(err)
			answer = &http.Response{Body: http.NoBody}
		}
		answer.Body.Close()
		status <- answer.StatusCode
	}()
	must.Happen(t, "a request runs", func() bool { return r.Snapshot().Total.InFlight == 1 })
	r.stop()
	if err := <-r.ended; !errors.Is(err, ErrCut) {
		t.Errorf("ended with %v, want ErrCut", err)
	}
	if got := <-status; got != http.StatusServiceUnavailable || !strings.Contains(r.said.String(), "path=/hold route=/ compartment=api status=503") {
		t.Errorf("status %d, and the log is\n%s", got, r.said)
	}
}

// WebSockets have the grace too.
func TestWebSocketsEndTheirWork(t *testing.T) {
	upstream := tcptest.Serve(t, func(conn net.Conn) {
		client := bufio.NewReader(conn)
		_, _ = http.ReadRequest(client)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_, _ = io.Copy(conn, client)
	})
	for grace, want := range map[string]error{"1m": nil, "20ms": ErrCut} {
		r := start(t, file("http://"+upstream, "shutdown: {grace: "+grace+"}"))
		conn := must.Have(net.Dial("tcp", r.address))(t)
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		server := bufio.NewReader(conn)
		must.Have(http.ReadResponse(server, nil))(t)
		r.stop()
		if want == nil {
			r.refusesConnections()
			_, _ = io.WriteString(conn, "still here\n")
			if line, err := server.ReadString('\n'); err != nil {
				t.Errorf("%q, %v: want the echo", line, err)
			}
			conn.Close()
		}
		if err := <-r.ended; !errors.Is(err, want) {
			t.Errorf("with a grace of %s: %v, want %v", grace, err, want)
		}
	}
}

func TestAddressInUse(t *testing.T) {
	taken := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	for setting, text := range map[string]string{
		"listeners[0].address": fmt.Sprintf("listeners: [{address: %q}]\nadmin: {address: none}", taken.Addr()),
		"admin.address":        fmt.Sprintf("listeners: [{address: \"127.0.0.1:0\"}]\nadmin: {address: %q}", taken.Addr()),
		"probes.address":       fmt.Sprintf("listeners: [{address: \"127.0.0.1:0\"}]\nadmin: {address: none}\nprobes: {address: %q}", taken.Addr()),
	} {
		c := must.Have(config.Parse("weir.yaml", []byte(text+"\n"+file("http://127.0.0.1:1", ""))))(t)
		_, err := New(c, Options{Log: discard})
		if err == nil || !strings.HasPrefix(err.Error(), setting+": listen tcp ") {
			t.Errorf("error %v, want one about %s", err, setting)
		}
	}
}

func TestServerFails(t *testing.T) {
	a, _ := named(t, "a")
	c := must.Have(config.Parse("weir.yaml", []byte(addresses+file(a, ""))))(t)
	p := must.Have(New(c, Options{Log: discard}))(t)
	_ = p.operators[0].Close()
	if err := p.Run(context.Background()); err == nil {
		t.Error("want the error of a listener that broke")
	}
}
