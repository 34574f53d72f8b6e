package tcptest

import (
	"context"
	"net"
	"sync"
)

// Pipes is a listener whose connections are pipes. They have no buffers, so a client that does not
// read stops the server at once, and a testing/synctest bubble knows when all of its goroutines
// wait. Make one with [NewPipes].
type Pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	close  func()
}

// NewPipes returns a listener that no client has dialed.
func NewPipes() *Pipes {
	closed := make(chan struct{})
	return &Pipes{make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) })}
}

// Dial returns the client's end of a new connection, once the server has accepted it.
func (p *Pipes) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.dialed <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial. It leaves connections as they are.
func (p *Pipes) Close() error {
	p.close()
	return nil
}

// Addr implements [net.Listener].
func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{} }
