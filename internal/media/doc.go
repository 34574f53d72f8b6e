// Package media tells by its header how an HTTP message goes on: as a call of gRPC, as a stream of events, as another protocol.
package media
