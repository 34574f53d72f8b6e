package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// Bind listens on an address: host:port, or unix:/path.
func Bind(address string) (net.Listener, error) {
	socket, err := bind(address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		err = fmt.Errorf("%w: want one that no other process listens on", err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		err = fmt.Errorf("%w: want one that this machine has", err)
	case errors.Is(err, syscall.EACCES):
		err = fmt.Errorf("%w: want one that this user may take, such as a port above 1023", err)
	}
	return socket, err
}

func bind(address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if !isUnix {
		return net.Listen("tcp", address)
	}
	socket, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(path) {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen: removing the socket of a process that has ended: %w", err)
		}
		socket, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		_ = socket.Close()
		return nil, err
	}
	return socket, nil
}

// abandoned reports whether the file is a socket that no process listens on.
func abandoned(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
