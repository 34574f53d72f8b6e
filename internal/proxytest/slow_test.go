package proxytest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

type beside struct {
	goodput float64 // a second, within the deadline
	limit   float64 // its mean
	memory  float64 // megabytes
}

func runBeside(t *testing.T, clients int, during time.Duration, seed uint64, kinds ...slowKind) (r beside) {
	u := upstream{20, 50 * time.Millisecond, 100 * time.Millisecond}
	byDefault.before(t, u, func(t *testing.T, p, _ peer) {
		c := gather(p, clients, kinds...)
		defer c.disperse()

		ctx, stop := context.WithCancel(t.Context())
		var limits []float64
		var watcher sync.WaitGroup
		watcher.Go(func() {
			for wait(ctx, 200*time.Millisecond) {
				limits = append(limits, p.counts(t).Limit)
			}
		})
		answers := u.times(0.6, during, seed, gets(t, p.url+"/work")).run(t.Context())
		stop()
		watcher.Wait()
		r = beside{
			goodput: float64(good(answers, 0, during)) / during.Seconds(),
			limit:   mean(limits),
			memory:  float64(p.memory(t)) / 1e6,
		}
	})
	return r
}

func TestSlowClients(t *testing.T) {
	measure(t)
	const clients, during, pairs = 1000, time.Minute, 5
	kinds := map[string][]slowKind{"slow and stalled bodies": {slowUp, slowDown, stalled}}
	for _, kind := range []slowKind{slowUp, slowDown, stalled, eventStream, webSocket} {
		kinds[kind.name] = []slowKind{kind}
	}
	tb := newTable(t, fmt.Sprintf("beside %d slow clients for %v, medians of %d pairs", clients, during, pairs),
		"clients", "goodput without", "with", "ratio", "mean limit without", "with", "ratio", "MB more")
	for name, kinds := range kinds {
		var goodput, limit, more, before, after, limitBefore, limitAfter []float64
		for pair := range pairs {
			without := runBeside(t, 0, during, uint64(pair), kinds...)
			with := runBeside(t, clients, during, uint64(pair), kinds...)
			before, after = append(before, without.goodput), append(after, with.goodput)
			limitBefore, limitAfter = append(limitBefore, without.limit), append(limitAfter, with.limit)
			goodput = append(goodput, with.goodput/without.goodput)
			limit = append(limit, with.limit/without.limit)
			more = append(more, with.memory-without.memory)
		}
		tb.row(name, median(before), median(after), median(goodput), median(limitBefore), median(limitAfter), median(limit), median(more))
	}
}

func TestIdleConnections(t *testing.T) {
	measure(t)
	const connections, pairs = 9900, 5 // 10,000 is the listener's default cap
	up := startUpstream(t, upstream{})
	more := map[string][]float64{}
	names := []string{}
	for pair := range pairs {
		for _, start := range []func(testing.TB, peer) peer{
			startPlain, func(t testing.TB, to peer) peer { return startWeir(t, to) },
		} {
			t.Run("", func(t *testing.T) {
				p := start(t, up)
				before := p.memory(t)
				c := gather(p, connections, idle)
				defer c.disperse()
				must.Happen(t, "all connections are open", func() bool { return p.files(t) >= connections })
				pause(5 * time.Second) // for the garbage collector
				more[p.name] = append(more[p.name], float64(p.memory(t)-before)/1e6)
				if pair == 0 {
					names = append(names, p.name)
				}
			})
		}
	}
	tb := newTable(t, fmt.Sprintf("%d idle connections, medians of %d", connections, pairs), "proxy", "MB more", "KB each", "of ReverseProxy")
	for _, name := range names {
		mb := median(more[name])
		tb.row(name, mb, mb*1e3/float64(connections), median(pairwise(more[name], more[names[0]])))
	}
}

// slowBody is the size of the bodies that slow clients send and read.
const slowBody = 16 << 10

// A slowKind is the behaviour of a slow client on a connection. It sends the head of a request, and
// then a piece at a time, or nothing. A client that sends no pieces reads everything, or a byte at
// a time.
type slowKind struct {
	name, head  string
	piece       string
	every       time.Duration
	readsSlowly bool
}

var (
	slowUp = slowKind{name: "a byte a second up", piece: "x", every: time.Second, head: sends("/echo", slowBody)}

	slowChunks = slowKind{
		name: "a chunk of a byte a second up", piece: "1\r\nx\r\n", every: time.Second,
		head: "POST /work HTTP/1.1\r\nHost: slow\r\nTransfer-Encoding: chunked\r\n\r\n",
	}
	slowLength = slowKind{name: "a byte a second of 100 kB up", piece: "x", every: time.Second, head: sends("/work", 100_000)}
	slowLarge  = slowKind{
		name: "2 KiB a second of 17 MiB up", piece: strings.Repeat("x", 205), every: time.Second / 10, head: sends("/work", 17<<20),
	}
	slowDown    = slowKind{name: "a byte a second down", readsSlowly: true, head: asks(fmt.Sprintf("/bytes?n=%d", slowBody))}
	stalled     = slowKind{name: "stalled in the middle", head: sends("/echo", slowBody) + strings.Repeat("x", slowBody/2)}
	eventStream = slowKind{name: "event streams", head: asks("/events")}
	webSocket   = slowKind{
		name: "idle WebSockets", head: asks("/socket", "Connection: Upgrade", "Upgrade: websocket",
			"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
	}
	idle = slowKind{name: "idle connections", head: asks("/bytes?n=1024")}
)

func sends(path string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: slow\r\nContent-Length: %d\r\n\r\n", path, length)
}

func asks(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: slow\r\n" + strings.Join(append(headers, "", ""), "\r\n")
}

// talk uses a connection until it is closed or ctx ends.
func (k slowKind) talk(ctx context.Context, conn net.Conn) {
	_, err := io.WriteString(conn, k.head)
	var few [512]byte // ten thousand connections have one each
	for err == nil {
		switch {
		case k.piece != "" && wait(ctx, k.every):
			_, err = io.WriteString(conn, k.piece)
		case k.readsSlowly && wait(ctx, time.Second):
			_, err = conn.Read(few[:1])
		case k.piece == "" && !k.readsSlowly:
			_, err = conn.Read(few[:])
		default:
			return
		}
	}
}

// wait reports whether the time has passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// slowClients are connected until disperse. A client whose connection was closed opens another.
type slowClients struct {
	leave context.CancelFunc
	all   sync.WaitGroup
}

// gather connects the clients, of the kinds in turn, within a second.
func gather(p peer, clients int, kinds ...slowKind) *slowClients {
	ctx, leave := context.WithCancel(context.Background())
	c := &slowClients{leave: leave}
	address := strings.TrimPrefix(p.url, "http://")
	dialer := net.Dialer{Control: func(_, _ string, conn syscall.RawConn) (err error) {
		// A small buffer; otherwise the kernel would take a body of 16 KB from the proxy at
		// once.
		_ = conn.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
		return err
	}}
	for n := range clients {
		c.all.Go(func() {
			wait(ctx, time.Second*time.Duration(n)/time.Duration(clients))
			for ctx.Err() == nil {
				conn, err := dialer.DialContext(ctx, "tcp", address)
				if err == nil {
					stop := context.AfterFunc(ctx, func() { conn.Close() })
					kinds[n%len(kinds)].talk(ctx, conn)
					stop()
					conn.Close()
				}
				wait(ctx, time.Second)
			}
		})
	}
	return c
}

func (c *slowClients) disperse() {
	c.leave()
	c.all.Wait()
}
