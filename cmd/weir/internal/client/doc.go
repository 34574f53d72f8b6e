// Package client identifies the client of a request, and forwards its identity to the
// upstream.
//
// The direct peer comes from the connection, or from the PROXY protocol before it. Other
// claims of a request about its origin count only if the listener trusts that peer:
//
//	                                 from a stranger           from a trusted peer
//	X-Forwarded-For                  the peer                  the peer is appended
//	X-Forwarded-Proto, -Host         of this connection        kept, or of this connection
//	X-Forwarded-Port                 dropped                   kept
//	X-Real-IP                        the peer                  the client's address
//	Forwarded                        dropped                   an element is appended, if it came with one
//	X-Request-Id                     a new one                 kept if it is plain, or a new one
//	Client-Cert, Client-Cert-Chain   the verified certificate  kept; of the connection if the peer is the client
//	Weir-Priority, Weir-Attempt      dropped                   kept
//	Weir-Timeout-Ms                  dropped                   the remaining time
//	Weir-Refused                     dropped                   dropped: it belongs to responses
//	traceparent                      kept, but see package spans
//
// # The client's address
//
// It is the right-most untrusted address of the chain: each trusted hop vouches for the hop
// on its left, and for no hop further left. If a hop is not an address ("unknown", an
// obfuscated name, garbage), the client's address is the trusted hop that named it. The chain
// is X-Forwarded-For; without it Forwarded (RFC 7239), which is also read from its right end,
// so that a stranger's open quote hides no element; without both, X-Real-IP. A trusted proxy
// that sets only one of them must remove X-Forwarded-For, or strangers choose its contents.
package client
