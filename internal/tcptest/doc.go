// Package tcptest has servers of raw connections and free addresses for tests.
package tcptest
