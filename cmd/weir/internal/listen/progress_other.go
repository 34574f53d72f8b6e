//go:build !linux

package listen

import "net"

// progress is how far the peer of a TCP connection has come.
type progress struct {
	acked uint64 // bytes that it has acknowledged
	owed  bool   // more has been written
}

// progressOf returns the progress of the socket's peer; ok is false if that cannot be known.
func progressOf(net.Conn) (p progress, ok bool) { return progress{}, false }

// seesProgress reports whether progressOf will know.
func seesProgress(net.Conn) bool { return false }
