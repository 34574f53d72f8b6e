//go:build !linux

package listen

import "net"

// progressOf returns the progress of the socket's peer; ok is false if it is unknown.
func progressOf(net.Conn) (p progress, ok bool) { return progress{}, false }
