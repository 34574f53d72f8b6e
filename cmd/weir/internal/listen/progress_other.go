//go:build !linux

package listen

import "net"

// progress is the state of a TCP connection's peer.
type progress struct {
	acked uint64 // bytes acknowledged by the peer
	owed  bool   // some written bytes are not acknowledged
}

// progressOf returns the progress of the socket's peer; ok is false if it is unknown.
func progressOf(net.Conn) (p progress, ok bool) { return progress{}, false }
