// Package headers reads the HTTP headers that both weirhttp and the proxy use: whether a
// message is a call of gRPC, a stream of events or an upgrade, and Retry-After.
package headers
