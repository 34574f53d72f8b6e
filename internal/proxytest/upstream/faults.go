package main

import (
	"io"
	"net"
	"net/http"
)

// raw are answers that are no HTTP, or end early. The connection is closed after them.
var raw = map[string]string{
	"close":   "",                                                   // before the header
	"header":  "HTTP/1.1 200 OK\r\nContent-Le",                      // within the header
	"garbage": "\x00\x01 this is not HTTP \xff\r\n\r\n",             //
	"short":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", // fewer bytes than announced
	"long":    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour and more",
	"chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\nZZ\r\n", // an invalid size
	"cut":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n",       // without a last chunk
	"reset":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",                        // and a reset
	"two":     "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfour",     // two lengths
}

// fault sends a wrong answer; "hang" does not answer until the client has left.
func fault(w http.ResponseWriter, r *http.Request) {
	kind := r.PathValue("kind")
	if kind == "hang" {
		<-r.Context().Done()
		return
	}
	text, known := raw[kind]
	if !known {
		http.Error(w, "no such fault", http.StatusNotFound)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text) // fails if the peer is gone
	if tcp, ok := conn.(*net.TCPConn); ok && kind == "reset" {
		_ = tcp.SetLinger(0)
	}
}
