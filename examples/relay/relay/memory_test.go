package relay_test

import (
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/internal/must"
)

// manyTags returns a subscription to the given number of tags, of 100 bytes each.
func manyTags(subscription, tags int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `["REQ","%d",{"limit":0,"#t":["%096d"`, subscription, 0)
	for i := range tags - 1 {
		fmt.Fprintf(&b, `,"%096d"`, i+1)
	}
	b.WriteString(`]}]`)
	return b.String()
}

// Clients that open as much as they may do not fill the memory: requests that do not fit are
// refused, clients with small requests are served, and closing subscriptions frees memory.
func TestSubscriptionsThatDoNotFitAreRefused(t *testing.T) {
	const target = 128 << 20 // an eighth of it holds 130 such subscriptions
	debug.FreeOSMemory()     // the memory of the tests before counts too
	inBubble(t, relay.Config{Memory: target, MessageRate: 1e6}, func(t *testing.T, b *bubble) {
		refused, opened := 0, 0
		var clients []*client
		for range 42 {
			c := b.client()
			clients = append(clients, c)
			for n := range 4 {
				c.send(manyTags(n, 1000))
				switch m := c.receive(); {
				case m[0] == "EOSE":
					opened++
				case m[0] == "CLOSED" && strings.HasPrefix(m[2].(string), "rate-limited: no memory for the subscription"):
					refused++
				default:
					t.Fatalf("%.200v", m)
				}
			}
		}
		t.Logf("%d opened, %d refused, %.0f bytes are kept", opened, refused, b.kept())
		if refused == 0 || opened == 0 {
			t.Errorf("%d subscriptions were opened and %d refused, want some of both", opened, refused)
		}
		if got := metric(t, b.server, `relay_refused_total{stage="memory"}`); got != fmt.Sprint(refused) {
			t.Errorf("%s are counted, want %d", got, refused)
		}
		if kept := b.kept(); kept > target/8 {
			t.Errorf("%.0f bytes are kept, want at most %d", kept, target/8)
		}
		other := b.client()
		other.send(`["REQ","a",{"kinds":[70000],"limit":0}]`)
		other.want("CLOSED", "a", "invalid:*")
		other.send(`["REQ","a",{"kinds":[60000],"limit":0}]`)
		other.want("EOSE", "a")
		other.publish(someone.event(59_999, "saved"))
		last := b.client()
		for n, tags := 0, 100; tags > 0; n++ { // until the memory is full
			last.send(manyTags(n, tags))
			if m := last.receive(); m[0] == "CLOSED" {
				tags /= 10
			}
		}
		other.send(`["EVENT",` + strings.Repeat(" ", 100_000) + `]`)
		other.want("NOTICE", "rate-limited: no memory for the message*")
		other.publish(someone.event(59_999, "small"))

		clients[0].send(`["CLOSE","0"]`)
		clients[0].send(`["CLOSE","1"]`) // and room to read the message
		clients[0].send(manyTags(0, 1000))
		clients[0].want("EOSE", "0")
		for _, c := range append(clients, other, last) {
			c.CloseNow()
		}
		synctest.Wait()
		if b.kept() != 0 {
			t.Errorf("%.0f bytes are kept for no connection", b.kept())
		}
	})
}

// kept returns the bytes that the governor keeps for clients.
func (b *bubble) kept() float64 {
	b.t.Helper()
	return must.Have(strconv.ParseFloat(metric(b.t, b.server, `weir_governor_kept_bytes{governor="relay"}`), 64))(b.t)
}

// The memory of an idle connection is about the amount counted for it: 33 KiB of the 36
// besides its shares. The race detector adds 14.
func TestConnectionsWeighWhatTheyTake(t *testing.T) {
	s := serve(t, relay.Config{ConnectionsPerAddress: 1000, ConnectionRate: 1e5})
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
		c := must.Have(net.Dial("tcp", strings.TrimPrefix(s.url, "http://")))(t)
		t.Cleanup(func() { c.Close() })
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
