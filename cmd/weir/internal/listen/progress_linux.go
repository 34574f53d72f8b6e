package listen

import (
	"net"

	"golang.org/x/sys/unix"
)

// progressOf returns the progress of the socket's peer; ok is false if it is unknown.
func progressOf(socket net.Conn) (p progress, ok bool) {
	tcp, isTCP := socket.(*net.TCPConn)
	if !isTCP {
		return progress{}, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return progress{}, false
	}
	err = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			p, ok = progress{acked: info.Bytes_acked, owed: info.Unacked > 0 || info.Notsent_bytes > 0}, true
		}
	})
	return p, ok && err == nil
}
