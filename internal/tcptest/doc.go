// Package tcptest has servers of raw connections and of HTTP, listeners of pipes, and free
// addresses for tests.
package tcptest
