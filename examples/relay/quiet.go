package main

import (
	"net"
	"net/http"
	"sync"
)

const (
	// mostQuiet is the number of sockets that may be quiet at once. Each takes 7 KB, and up to
	// maxHeader more.
	mostQuiet = 1000
	// maxHeader is the size in bytes that the header of a request may have, beside the 4 KB of
	// net/http.
	maxHeader = 8 << 10
)

// quiet has the sockets of a server that are not WebSockets. They send no request, a part of a
// request, or one request after another. If there are too many, a new socket closes any of the
// others. Clients send their request at once, so a flood of silent sockets closes mostly its own
// sockets.
type quiet struct {
	mu      sync.Mutex
	sockets map[net.Conn]struct{}
}

// note is the ConnState of the server.
func (q *quiet) note(c net.Conn, state http.ConnState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch state {
	case http.StateNew:
		q.add(c)
	case http.StateHijacked, http.StateClosed:
		delete(q.sockets, c)
	}
}

func (q *quiet) add(c net.Conn) {
	for other := range q.sockets {
		if len(q.sockets) < mostQuiet {
			break
		}
		_ = other.Close()
		delete(q.sockets, other)
	}
	q.sockets[c] = struct{}{}
}
