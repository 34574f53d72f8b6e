package relay

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/nbd-wtf/go-nostr"
	"golang.org/x/time/rate"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/protocol"
)

// A connection is a client over WebSocket. Three goroutines serve it: one reads messages,
// one writes them, and one pings the client.
type connection struct {
	server   *Server
	socket   *websocket.Conn
	ctx      context.Context //nolint:containedctx // ends with the connection, for which the goroutines of its messages work
	end      context.CancelCauseFunc
	out      *outbox
	kept     share         // of memory, for its subscriptions
	incoming share         // of memory, for messages being read and events being processed
	rate     *rate.Limiter // of messages
	bytes    *rate.Limiter // of the bytes read from the socket

	steps      atomic.Int64  // even while it reads, odd while it processes a message
	publishing chan struct{} // an element for each event being processed
	queries    queries

	mu      sync.Mutex
	leaving bool           // no more messages are processed
	work    sync.WaitGroup // tasks that run on goroutines of their own
}

const (
	// atOnce is the number of events of a connection processed at once.
	atOnce = 8
	// mostUnsent is the number of bytes that may wait for a connection. A live event that
	// does not fit ends the connection.
	mostUnsent = 256 << 10
	// stall is the longest duration of a write, a message or the answer to a ping.
	stall     = 10 * time.Second
	pingEvery = 30 * time.Second
)

var connected atomic.Uint64 // numbers connections: each is a tenant

var errSlow = errors.New("relay: the client reads too slowly")

func (s *Server) connect(w http.ResponseWriter, r *http.Request, internal bool) {
	if !s.begin() {
		(&denial{http.StatusServiceUnavailable, comeBack, "the relay is closed"}).answer(w)
		return
	}
	defer s.work.Done()
	c := newConnection(s, internal)
	defer c.end(nil)
	socket, err := websocket.Accept(hijacker{w, c}, r, &websocket.AcceptOptions{
		InsecureSkipVerify: !internal,                     // pages of any origin may use a relay: it uses no cookies
		CompressionMode:    websocket.CompressionDisabled, // compression would let a few bytes expand to the largest message, and takes 40 KB for each client that sends
		OnPingReceived:     func(context.Context, []byte) (answer bool) { return c.wait(c.rate, 1) == nil },
		OnPongReceived:     func(context.Context, []byte) { _ = c.wait(c.rate, 1) },
	})
	if err != nil {
		return // answered
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(protocol.MaxMessage)
	c.socket = socket
	defer context.AfterFunc(s.closing, c.goodbye)()
	s.counts.connections.Inc()
	defer s.counts.connections.Dec()
	c.serve()
}

func newConnection(s *Server, internal bool) *connection {
	c := &connection{
		server:     s,
		out:        &outbox{limit: mostUnsent, memory: share{own: ownOutbox, keep: s.governor.TryAcquireKept}},
		kept:       share{own: ownSubscriptions, keep: s.governor.TryAcquireKept},
		incoming:   share{own: ownIncoming, keep: s.governor.TryAcquireKept},
		rate:       limiterOf(s.conf.MessageRate),
		bytes:      limiterOf(s.conf.byteRate()),
		publishing: make(chan struct{}, atOnce),
	}
	// The context of the request ends when the handler hijacks the socket.
	ctx := weir.WithTenant(context.Background(), strconv.FormatUint(connected.Add(1), 10))
	if internal {
		ctx = weir.WithPriority(ctx, weir.PriorityHigh)
		c.rate.SetLimit(rate.Inf)
		c.bytes.SetLimit(rate.Inf)
	}
	c.ctx, c.end = context.WithCancelCause(ctx)
	c.queries.conn, c.queries.open = c, map[string]*query{}
	return c
}

// limiterOf returns a limiter with a burst of two seconds.
func limiterOf(perSecond float64) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSecond), int(min(math.Ceil(2*perSecond), math.MaxInt32)))
}

// serve returns when the connection has ended and its tasks have finished.
func (c *connection) serve() {
	var others sync.WaitGroup
	others.Go(c.write)
	others.Go(c.keepAlive)
	err := c.read()
	if !c.isLeaving() { // otherwise goodbye ends it
		c.end(err)
	}
	<-c.ctx.Done()
	c.queries.endAll()
	c.work.Wait()
	_ = c.socket.CloseNow()
	others.Wait()
	c.out.discard()
	c.incoming.discard()
}

// read processes messages until the connection ends. While a message waits for a slot it
// does not read: the client then finds the socket full.
func (c *connection) read() error {
	for {
		kind, text, err := c.next()
		c.steps.Add(1) // processing
		switch {
		case errors.Is(err, errNoMemory):
			c.server.counts.refused(keeping)
			c.answer("NOTICE", noMemory("the message"))
		case errors.Is(err, websocket.ErrMessageTooBig):
			c.server.counts.refused(sizing)
			return err
		case err != nil:
			return err
		default:
			if err := c.wait(c.rate, 1); err != nil {
				return err
			}
			if c.isLeaving() || !c.dispatch(kind, text) {
				c.incoming.give(cap(text))
			}
		}
		c.steps.Add(1) // reading
	}
}

// next reads a message. The caller releases its memory. From the first byte on, the client
// has a limited time to send it. The error is errNoMemory if there is no memory for it; the
// next message may be read then.
func (c *connection) next() (websocket.MessageType, []byte, error) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	kind, r, err := c.socket.Reader(ctx)
	if err != nil {
		return 0, nil, err
	}
	late := time.AfterFunc(stall, cancel)
	defer late.Stop()
	text, err := c.incoming.read(r)
	if errors.Is(err, errNoMemory) {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return 0, nil, err
		}
	}
	return kind, text, err
}

// wait waits until a limiter of the connection allows n more messages or bytes. It refuses nothing:
// these have been read, and it delays only the next read.
func (c *connection) wait(of *rate.Limiter, n int) error {
	if of.AllowN(time.Now(), n) {
		return nil
	}
	c.server.counts.refused(pacing)
	return of.WaitN(c.ctx, n)
}

// dispatch processes a message. It returns after the message is answered, or later = true
// for an event that is published on a goroutine of its own, which releases the memory.
func (c *connection) dispatch(kind websocket.MessageType, text []byte) (later bool) {
	if kind != websocket.MessageText {
		c.server.counts.refused(parsing)
		c.answer("NOTICE", protocol.Reason(protocol.Invalid, "a binary frame: want text"))
		return false
	}
	parsed, err := protocol.ParseMessage(text)
	if wrong := (*protocol.ParseError)(nil); errors.As(err, &wrong) {
		c.server.counts.refused(parsing)
		c.send(wrong.Answer)
		return false
	}
	switch m := parsed.(type) {
	case *nostr.EventEnvelope:
		return c.takeUp(&m.Event, cap(text))
	case *nostr.ReqEnvelope:
		c.queries.subscribe(m.SubscriptionID, m.Filters, len(text))
	case *nostr.CountEnvelope:
		c.queries.count(m.SubscriptionID, m.Filters, len(text))
	case *nostr.CloseEnvelope:
		c.queries.close(string(*m))
	}
	return false
}

// takeUp waits for a slot, publishes an event on a goroutine of its own, and then releases
// its memory.
func (c *connection) takeUp(e *nostr.Event, bytes int) bool {
	select {
	case c.publishing <- struct{}{}:
	case <-c.ctx.Done():
		return false
	}
	return c.start(func() {
		defer c.incoming.give(bytes)
		ok, reason := c.publish(e)
		c.answer("OK", e.ID, ok, reason)
		<-c.publishing
	})
}

// answer sends a message with a label, such as OK, and its elements.
func (c *connection) answer(label string, elements ...any) {
	c.send(protocol.Encode(label, elements...))
}

// send waits for room and sends a message. If the connection ends first, it drops the
// message.
func (c *connection) send(text []byte) { _ = c.out.put(c.ctx, text) }

func (c *connection) write() {
	for {
		message, err := c.out.next(c.ctx)
		if errors.Is(err, errFinished) {
			_ = c.socket.Close(websocket.StatusGoingAway, "the relay is closing")
			c.end(errFinished)
			return
		}
		if err != nil {
			return
		}
		if err := c.writeFrame(message); err != nil {
			c.end(err)
			return
		}
		c.out.release(sizeOf(message))
	}
}

func (c *connection) writeFrame(message []byte) error {
	ctx, cancel := context.WithTimeout(c.ctx, stall)
	defer cancel()
	err := c.socket.Write(ctx, websocket.MessageText, message)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.server.counts.refused(delivering)
		return errSlow
	}
	return err
}

// A hijacker paces the bytes of the connection that its response writer hands over. Frames
// without a payload take processor time too, and the WebSocket library does not show them.
type hijacker struct {
	http.ResponseWriter
	conn *connection
}

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	socket, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	return pacedSocket{socket, h.conn}, buffers, err
}

type pacedSocket struct {
	net.Conn
	conn *connection
}

func (s pacedSocket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p[:min(len(p), s.conn.bytes.Burst())])
	return n, cmp.Or(err, s.conn.wait(s.conn.bytes, n))
}

// start runs a part of the processing of a message, unless the connection is leaving.
func (c *connection) start(work func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.leaving {
		c.work.Go(work)
	}
	return !c.leaving
}

func (c *connection) isLeaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaving
}

// drop ends the connection of a client that does not keep up.
func (c *connection) drop() {
	if c.ctx.Err() == nil {
		c.server.counts.refused(delivering)
	}
	c.end(errSlow)
}

// keepAlive pings, and ends a connection if its client neither answers nor sends anything.
// While a message is processed, the answer would not be read, so its absence means nothing.
func (c *connection) keepAlive() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
		before := c.steps.Load()
		ctx, cancel := context.WithTimeout(c.ctx, stall)
		err := c.socket.Ping(ctx)
		cancel()
		if err != nil && c.steps.Load() == before && before%2 == 0 {
			c.server.counts.refused(delivering)
			c.end(fmt.Errorf("relay: no answer to a ping: %w", err))
			return
		}
	}
}

// goodbye ends the connection for the relay: the current write finishes, and the client
// receives a notice.
func (c *connection) goodbye() {
	c.mu.Lock()
	c.leaving = true
	c.mu.Unlock()
	c.queries.endAll()
	c.work.Wait()
	c.answer("NOTICE", "the relay is closing")
	c.out.finish()
}
