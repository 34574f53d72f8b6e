// Package listen is the proxy's client side: sockets, TLS, the PROXY protocol, caps on
// connections, and time limits for clients that are slow or gone.
//
// It serves the protocols of net/http: HTTP/1.1, and HTTP/2 by ALPN or, without TLS, with
// prior knowledge. net/http reads cleartext, above TLS. Before that, the package refuses
// heads that two servers may read differently, because net/http does not report them.
//
// # Client addresses
//
// Behind the PROXY protocol the RemoteAddr of a request is the address in the PROXY header. The
// networks in Trusted are matched against RemoteAddr: if a TCP balancer precedes HTTP proxies, the
// proxies are trusted, not the balancer. Without the PROXY protocol the RemoteAddr is the address
// of the peer.
//
// # Time limits
//
// HeaderTimeout bounds the PROXY header, then the handshake, then the headers of HTTP/1.
// BodyTimeout bounds a stall:
//
//   - A read of a request body fails with [os.ErrDeadlineExceeded] once its client is behind
//     BodyRate by BodyTimeout. A client is behind by the excess of the time that it took over the
//     time that its bytes take at that rate. Only time spent reading the body counts. A client gets
//     no credit for being ahead, or a megabyte at the beginning would buy an hour. HTTP/1.1 closes
//     the connection after the answer, and HTTP/2 the stream. The bytes of HTTP/1.1 are counted on
//     the socket, because a record of TLS is read whole. A frame of HTTP/2 is read whole too, and
//     its bytes are counted when the proxy reads them: with 30 s, a client whose frames have 16 KiB
//     needs 550 bytes/s for each body.
//   - The rate does not apply to a body after Converse: its client may wait for the upstream.
//     Without a rate, a read fails that returns no byte for BodyTimeout.
//   - A write to a socket fails once the client has acknowledged no byte for four times
//     BodyTimeout. A client's system reads ahead of the client and acknowledges about 100 KB at a
//     time. Until then a slow client looks like a stalled client: with 30 s, 1 KB/s is enough. The
//     duration of the write does not count, because megabytes may wait in the socket. Linux knows
//     the acknowledged bytes on TCP; elsewhere, and on Unix sockets, the write itself must end in
//     that time.
//   - A write to an HTTP/2 stream fails once a frame of 16 KiB has waited four times BodyTimeout
//     for the client's flow control, unless it waits for the connection.
//
// A client that reads a byte now and then is slow but not stalled, so it may stay. Other
// limits bound its cost: the caps on connections here, and the caps on streams and memory
// where requests are forwarded. Hijacked connections, such as WebSockets, have no time limits
// from this package.
//
// # HTTP/2 limits
//
// net/http (Go 1.26) runs MaxStreams handlers of a connection at a time and lets four times as many
// wait, including handlers of reset streams; then it closes the connection. It closes a connection
// whose header block far exceeds MaxHeader, in any number of CONTINUATION frames, and a connection
// that lets 10,000 answers to PING, SETTINGS and resets wait. It does not bound the resets of a
// client over time; MaxResets does, by GOAWAY. Empty frames and PINGs whose answers are read cost
// processor time in proportion to the bytes that a client sends, and no limit bounds them.
package listen
