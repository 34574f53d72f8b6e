package relay_test

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
	"github.com/weir-go/weir/load"
)

// listening runs a server that serves on a socket.
func listening(t *testing.T, c relay.Config) (s *served, address string) {
	t.Helper()
	s = serve(t, c)
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

func dialed(t *testing.T, address string) net.Conn {
	t.Helper()
	c := must.Have(net.Dial("tcp", address))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// TestClientsWaitForRun checks that a program may listen before Run has started.
func TestClientsWaitForRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := must.Have(relay.New(relay.Config{Store: &fake{}, Sources: []load.Source{idle{}}}))(t)
		ctx, stop := context.WithCancel(t.Context())
		p := tcptest.NewPipes()
		accepted := make(chan net.Conn, 1)
		var all sync.WaitGroup
		all.Go(func() { _ = s.Serve(ctx, p) })
		go func() {
			c, _ := p.Dial(ctx)
			accepted <- c
		}()
		synctest.Wait()
		if len(accepted) > 0 {
			t.Error("a client is accepted before Run")
		}
		all.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if len(accepted) == 0 {
			t.Fatal("no client is accepted while Run is at work")
		}
		(<-accepted).Close()
		stop()
		all.Wait()
		_ = s.Run(ctx) // the second call must return and not panic
	})
}

// Silent sockets are bounded: in total, and by address.
func TestSocketsThatAreRefused(t *testing.T) {
	for name, conf := range map[string]relay.Config{"in all": {Connections: 2}, "by address": {ConnectionsPerAddress: 3}} {
		t.Run(name, func(t *testing.T) {
			s, address := listening(t, conf)
			var silent []net.Conn
			for range 3 {
				silent = append(silent, dialed(t, address))
			}
			for s.metric("relay_sockets") != "3" {
			}
			refused := dialed(t, address)
			for s.metric(`relay_refused_total{stage="socket"}`) == "0" {
				if s.metric("relay_sockets") == "4" {
					t.Fatal("a socket more than there may be is let in")
				}
			}
			if _, err := refused.Read(make([]byte, 1)); err == nil {
				t.Error("a socket more than there may be has an answer")
			}
			if got := s.metric(`relay_refused_total{stage="socket"}`); got != "1" {
				t.Errorf("%s are counted, want 1", got)
			}
			silent[0].Close()
			for s.metric("relay_sockets") != "2" {
			}
			connect(t, "http://"+address, nil)
			if got := s.metric("relay_sockets"); got != "3" {
				t.Errorf("%s sockets, want 3", got)
			}
		})
	}
}

// A WebSocket releases its slot once, however it ends.
func TestSocketsOfConnectionsAreCounted(t *testing.T) {
	s, address := listening(t, relay.Config{})
	for range 3 {
		connect(t, "http://"+address, nil).CloseNow()
	}
	for s.metric("relay_sockets") != "0" {
	}
	r, err := http.Get("http://" + address)
	if err != nil || r.StatusCode != http.StatusUpgradeRequired {
		t.Fatal(r, err)
	}
	r.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	for s.metric("relay_sockets") != "0" {
	}
}

func TestSocketsThatSendNoWholeRequest(t *testing.T) {
	for name, says := range map[string]string{
		"nothing": "", "half a line": "GET / HT", "half of the headers": "GET / HTTP/1.1\r\nHost: relay\r\nConnection: Upgrade\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := build(t, relay.Config{})
				p := tcptest.NewPipes()
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.Serve(ctx, p) }()
				synctest.Wait()
				c := must.Have(p.Dial(t.Context()))(t)
				began := time.Now()
				go func() { _, _ = c.Write([]byte(says)) }()
				for {
					if _, err := c.Read(make([]byte, 1000)); err != nil {
						break
					}
				}
				if took := time.Since(began); took != 10*time.Second {
					t.Errorf("the socket was closed after %v, want 10 s", took)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				stop()
			})
		})
	}
}

// A listener that fails ends Serve.
func TestListenerThatFails(t *testing.T) {
	s := serve(t, relay.Config{})
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	l.Close()
	if err := s.Serve(t.Context(), l); err == nil {
		t.Error("no error")
	}
}

// The memory of an idle connection is about the amount counted for it: 33 KiB of the 36
// besides its shares. The race detector adds 14.
func TestConnectionsWeighWhatTheyTake(t *testing.T) {
	s, address := listening(t, relay.Config{ConnectionsPerAddress: 1000, ConnectionRate: 1e5})
	takes := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	const connections = 300
	before := takes()
	for range connections {
		c := dialed(t, address)
		_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: relay\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"))
		must.Have(c.Read(make([]byte, 1)))(t)
	}
	for s.metric("relay_connections") != strconv.Itoa(connections) {
	}
	each := int(takes()-before) / connections
	t.Logf("%d bytes each", each)
	if most := 56 << 10; each > most {
		t.Errorf("a connection takes %d bytes, want at most %d", each, most)
	}
}
