package proxy

import (
	"encoding/binary"
	"io"
)

// The beginning of a connection of HTTP/2, and the types and flags of its frames (RFC 9113, 6).
const (
	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

	data, headers, reset, settings, goAway, windowUpdate = 0, 1, 3, 4, 7, 8

	endStream, endHeaders = 1, 4
)

// status200 is a header block (RFC 7541, A).
const status200 = "\x88"

func frame(kind, flags byte, stream uint32, payload string) string {
	head := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return string(head) + payload
}

func readFrame(from io.Reader) (kind, flags byte, stream uint32, payload []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, 0, 0, nil, err
	}
	payload = make([]byte, binary.BigEndian.Uint32(head[:])>>8)
	_, err = io.ReadFull(from, payload)
	return head[3], head[4], binary.BigEndian.Uint32(head[5:]), payload, err
}
