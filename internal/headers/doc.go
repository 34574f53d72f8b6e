// Package headers reads the headers of HTTP that weirhttp and the proxy both act on: whether a
// message is a call of gRPC, a stream of events or an upgrade, and Retry-After.
package headers
