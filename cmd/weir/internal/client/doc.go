// Package client finds out who sent a request, and tells the upstream.
//
// The direct peer is what the connection says, or the PROXY protocol before it. Whatever else a
// request says about its origin counts only if the listener trusts that peer:
//
//	                                 from a stranger           from a trusted peer
//	X-Forwarded-For                  the peer                  the peer is appended
//	X-Forwarded-Proto, -Host         those of this connection  kept, or those of this connection
//	X-Forwarded-Port                 dropped                   kept
//	X-Real-IP                        the peer                  the client's address
//	Forwarded                        dropped                   an element is appended, if it came with one
//	X-Request-Id                     a new one                 kept if it is plain, or a new one
//	Client-Cert, Client-Cert-Chain   the verified certificate  kept; that of the connection if the peer is the client
//	Weir-Priority, Weir-Attempt      dropped                   kept
//	Weir-Timeout-Ms                  dropped                   what is left of it
//	Weir-Refused                     dropped                   dropped: it belongs to responses
//	traceparent                      kept, but see package spans
//
// # The client's address
//
// It is the right-most address of the chain that is not trusted: each trusted hop vouches for the
// one on its left, and nothing vouches for what is further left. Where a hop is not an address
// ("unknown", an obfuscated name, garbage), the address is that of the trusted hop which named it.
// The chain is X-Forwarded-For; without it Forwarded (RFC 7239), which is read from its right end
// too, so that an open quote of a stranger swallows nothing; without both, X-Real-IP. A trusted
// proxy that sets only one of them has to remove X-Forwarded-For, or strangers choose what it says.
package client
