// Package listen is the proxy's side towards clients: sockets, TLS, the PROXY protocol, caps on
// connections, and time limits for clients that are slow or gone.
//
// Protocols are those of net/http: HTTP/1.1, and HTTP/2 by ALPN or, without TLS, to clients that
// know it beforehand. net/http reads cleartext, above TLS. On the way there heads are refused that
// two servers may read in two ways; net/http would not say that it saw one.
//
// # Who a client is
//
// Behind the PROXY protocol the RemoteAddr of a request is the address that the header named. The
// networks in Trusted are matched against RemoteAddr: with a TCP balancer before HTTP proxies it is
// these proxies that are trusted, not the balancer. Without the PROXY protocol the two are the
// same.
//
// # Time limits
//
// HeaderTimeout bounds the PROXY header, then the handshake, then the headers of HTTP/1.
// BodyTimeout bounds a stall:
//
//   - A read of a request body that brings nothing for that long fails with
//     [os.ErrDeadlineExceeded].
//   - So does one whose client is behind BodyRate by that long: it took so much longer than its
//     bytes take at that rate. Only the time counts in which the body is read. Being ahead does not
//     count, or a megabyte at the beginning would buy an hour. HTTP/1.1 closes the connection after
//     the answer, and HTTP/2 the stream. What a connection of HTTP/2 receives counts for the bodies
//     that wait for it in equal parts, because a frame is read whole; so with 30 s and 240 bytes/s,
//     a client whose frames have 16 KiB needs 550 bytes/s.
//   - The rate does not bind a body after Converse: its client may wait for what the upstream says.
//   - A write to a socket fails once the client has acknowledged nothing for four times as long. A
//     client's system reads ahead of it and acknowledges about 100 KB at a time, so a slow client
//     cannot be told from a stalled one before that: with 30 s, 1 KB/s is enough. How long the
//     write takes does not count, because megabytes may wait in the socket. Linux knows what was
//     acknowledged on TCP; elsewhere, and on Unix sockets, the write itself must end in that time.
//   - A write to a stream of HTTP/2 fails once a frame of 16 KiB has waited as long for the
//     client's flow control, while the connection is not what it waits for.
//
// A client that reads a byte now and then is slow and not stalled, so it may stay. What it can hold
// is bounded elsewhere: the caps on connections here, those on streams and memory where requests
// are forwarded. Connections that were hijacked, as those of WebSockets are, have no time limits
// from here.
//
// # What bounds HTTP/2
//
// net/http (Go 1.26) runs MaxStreams handlers of a connection at a time and lets four times as many
// wait, those of streams that were reset included; then it closes the connection. It closes a
// connection whose header block exceeds MaxHeader by much, in however many CONTINUATION frames, and
// one that lets 10,000 answers to PING, SETTINGS and resets wait. It does not bound how many
// requests a client resets over time; MaxResets does, by GOAWAY. Empty frames and PINGs whose
// answers are read cost processor time in proportion to what a client sends, and nothing bounds
// them.
package listen
