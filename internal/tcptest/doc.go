// Package tcptest has servers of raw connections, listeners of pipes, and free addresses for tests.
package tcptest
