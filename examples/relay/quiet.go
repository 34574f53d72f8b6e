package main

import (
	"net"
	"net/http"
	"sync"
)

// mostQuiet is how many sockets may be quiet at once. Each takes 7 KB.
const mostQuiet = 1000

// quiet has the sockets of a server that have not sent a request, or are between two. If there are
// too many, a new one closes any of the others. Clients send their request at once, so a flood of
// silent sockets closes mostly its own.
type quiet struct {
	mu      sync.Mutex
	sockets map[net.Conn]struct{}
}

// note is the ConnState of the server.
func (q *quiet) note(c net.Conn, state http.ConnState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.sockets, c)
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	for other := range q.sockets {
		if len(q.sockets) < mostQuiet {
			break
		}
		_ = other.Close()
		delete(q.sockets, other)
	}
	q.sockets[c] = struct{}{}
}
