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
//	Forwarded                        dropped                   likewise
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
// is X-Forwarded-For; without it, X-Real-IP counts. A trusted proxy that sets only X-Real-IP must
// remove X-Forwarded-For, or strangers choose its contents.
package client
