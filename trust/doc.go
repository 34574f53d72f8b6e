// Package trust decides which peers may set the priority of their requests.
//
// A server that queues or sheds serves more important work first ([weir.WithPriority]). If any
// client could set the priority by a header, all clients would claim to be critical. So a peer's
// priority counts only if the operator trusts that peer: by the network of its connection
// ([Networks]), by the certificate that it proved to own ([Verified]), or by a rule of the
// operator's own, a function of type [Peers].
//
// A peer is the other end of the connection, never an address in a header such as
// X-Forwarded-For. Behind a proxy the peer is the proxy: trust it only if it removes
// priorities sent by strangers.
//
// Package weirgrpc takes a [Peers] as a setting. For HTTP, and so for Connect, give [Peers.Request]
// to weirhttp.Trust.
package trust
