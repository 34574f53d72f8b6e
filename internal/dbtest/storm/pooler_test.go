package storm

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/storm"
)

// A pooler is a proxy between clients and PostgreSQL like PgBouncer in its mode
// "transaction": a client has a connection of the server from the first statement of a
// transaction to its end. Before that each transaction passes a gate. It implements only the
// simple protocol, which pgbench uses.
type pooler struct {
	listener net.Listener
	gate     storm.Gate
	idle     chan *peer // connections of the server

	from time.Time // start of the measurements

	mu  sync.Mutex
	log latencies // of transactions, without the wait at the gate and for a connection
}

// newPooler starts a pooler with the given number of connections to a server. It ends with
// ctx.
func newPooler(t *testing.T, ctx context.Context, server string, connections int, from time.Time, gate storm.Gate) *pooler {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pooler{listener: listener, gate: gate, from: from, idle: make(chan *peer, connections)}
	context.AfterFunc(ctx, func() { listener.Close() })
	for range connections {
		s, err := logIn(server)
		if err != nil {
			t.Fatal(err)
		}
		context.AfterFunc(ctx, func() { s.conn.Close() })
		p.idle <- s
	}
	go p.accept(ctx)
	return p
}

func (p *pooler) accept(ctx context.Context) {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		go func() {
			defer conn.Close()
			client := newPeer(conn)
			if client.welcome() == nil {
				_ = p.serve(ctx, client) // pgbench reports the error
			}
		}()
	}
}

// serve forwards the transactions of a client until it leaves.
func (p *pooler) serve(ctx context.Context, client *peer) error {
	for {
		statement, err := client.read()
		if err != nil || statement.kind == terminate {
			return err
		}
		if err := p.transaction(ctx, client, statement); err != nil {
			return err
		}
	}
}

// transaction forwards a transaction, from its first statement.
func (p *pooler) transaction(ctx context.Context, client *peer, statement message) error {
	done, err := p.pass(ctx)
	if err != nil {
		return err
	}
	server := <-p.idle
	began := time.Now()
	err = p.exchange(client, server, statement)
	p.idle <- server
	done(err)
	if began.After(p.from) && err == nil {
		p.mu.Lock()
		p.log = append(p.log, time.Since(began))
		p.mu.Unlock()
	}
	return err
}

// database returns the durations of the transactions.
func (p *pooler) database() latencies {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.log))
}

// pass waits until a transaction may start. pgbench drops a client whose transaction fails,
// so a refused transaction asks again.
func (p *pooler) pass(ctx context.Context) (done func(error), err error) {
	for ctx.Err() == nil {
		done, err = p.gate(ctx)
		refusal := (*weir.RefusedError)(nil)
		if !errors.As(err, &refusal) {
			break
		}
		storm.Pause(ctx, refusal.RetryAfter)
	}
	return done, cmp.Or(err, ctx.Err())
}

// exchange forwards statements and answers until the server is in no transaction.
func (p *pooler) exchange(client, server *peer, statement message) error {
	for {
		if err := server.write(statement); err != nil {
			return err
		}
		state, err := server.answer(client)
		if err != nil || state == idle {
			return err
		}
		if statement, err = client.read(); err != nil {
			return err
		}
	}
}

// The parts of PostgreSQL's protocol, version 3, that a pooler needs.
const (
	terminate     = 'X'
	readyForQuery = 'Z'
	errorResponse = 'E'
	idle          = 'I' // the state in readyForQuery: in no transaction

	protocolVersion = 3 << 16
	sslRequest      = 1234<<16 | 5679
	gssRequest      = 1234<<16 | 5680
)

type message struct {
	kind byte
	body []byte
}

// A peer is one end of a connection.
type peer struct {
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

func newPeer(conn net.Conn) *peer { return &peer{conn, bufio.NewReader(conn), bufio.NewWriter(conn)} }

func (p *peer) read() (m message, err error) {
	if m.kind, err = p.in.ReadByte(); err != nil {
		return m, err
	}
	m.body, err = p.readBody()
	return m, err
}

// readBody reads a length, which includes itself, and the body.
func (p *peer) readBody() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(p.in, length[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(length[:])-4)
	_, err := io.ReadFull(p.in, body)
	return body, err
}

// write sends a message. Without flush it may stay in the buffer.
func (p *peer) write(m message) error {
	p.put(m)
	return p.out.Flush()
}

func (p *peer) put(m message) {
	_ = p.out.WriteByte(m.kind) // Flush returns its error
	_, _ = p.out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(m.body)+4)))
	_, _ = p.out.Write(m.body)
}

// answer forwards the messages of a server until it is ready, and returns its transaction
// state.
func (p *peer) answer(client *peer) (state byte, err error) {
	for {
		m, err := p.read()
		if err != nil {
			return 0, err
		}
		client.put(m)
		if m.kind == readyForQuery {
			return m.body[0], client.out.Flush()
		}
	}
}

// welcome accepts the login of a client.
func (p *peer) welcome() error {
	for {
		body, err := p.readBody()
		if err != nil {
			return err
		}
		switch code := binary.BigEndian.Uint32(body); code {
		case sslRequest, gssRequest:
			if _, err := p.conn.Write([]byte{'N'}); err != nil {
				return err
			}
			continue
		case protocolVersion:
		default:
			return fmt.Errorf("protocol version %#x", code)
		}
		p.put(message{'R', make([]byte, 4)}) // authenticated
		for _, parameter := range []string{"server_version\x0015.0\x00", "client_encoding\x00UTF8\x00", "standard_conforming_strings\x00on\x00"} {
			p.put(message{'S', []byte(parameter)})
		}
		return p.write(message{readyForQuery, []byte{idle}})
	}
}

// logIn opens a connection to a server that trusts its clients.
func logIn(address string) (*peer, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	p := newPeer(conn)
	body := binary.BigEndian.AppendUint32(nil, protocolVersion)
	body = append(body, "user\x00weir\x00database\x00postgres\x00\x00"...)
	start := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	if _, err := conn.Write(start); err != nil {
		return nil, err
	}
	for {
		m, err := p.read()
		switch {
		case err != nil:
			return nil, err
		case m.kind == errorResponse:
			return nil, errors.New(string(m.body))
		case m.kind == readyForQuery:
			return p, nil
		}
	}
}
