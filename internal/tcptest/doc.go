// Package tcptest runs servers of raw connections for tests.
package tcptest
