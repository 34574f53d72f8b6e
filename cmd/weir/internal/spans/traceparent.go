package spans

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// A TraceID identifies a trace; the zero TraceID is invalid.
type TraceID [16]byte

// String returns 32 hexadecimal digits.
func (id TraceID) String() string { return hex.EncodeToString(id[:]) }

// A SpanID identifies a span of a trace; the zero SpanID is invalid.
type SpanID [8]byte

// String returns 16 hexadecimal digits.
func (id SpanID) String() string { return hex.EncodeToString(id[:]) }

// A Context is the place of a request in its trace.
type Context struct {
	Trace  TraceID
	Parent SpanID // the caller's span, zero at the beginning of a trace
	Span   SpanID // the request's own span, zero if it has none
	flags  byte
}

// The flags of traceparent, level 2.
const (
	flagSampled = 1
	flagRandom  = 2 // the trace's last seven bytes are random
)

// Sampled reports whether the span of the request is sent.
func (c Context) Sampled() bool { return c.flags&flagSampled != 0 }

// The layout of a traceparent: version-trace-parent-flags.
const (
	lengthV0   = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	parentAt   = len("00-0af7651916cd43dd8448eb211c80319c-")
	flagsAt    = lengthV0 - 2
	traceAt    = len("00-")
	invalidVer = "ff"
)

// Parse parses the values of a traceparent header. It requires exactly one value, and a valid
// one.
func Parse(values []string) (c Context, ok bool) {
	if len(values) != 1 || len(values[0]) < lengthV0 {
		return c, false
	}
	text := values[0]
	version, rest := text[:2], text[lengthV0:]
	var one [1]byte
	if version == invalidVer || !lowerHex(one[:], version) ||
		text[2] != '-' || text[parentAt-1] != '-' || text[flagsAt-1] != '-' ||
		rest != "" && (version == "00" || rest[0] != '-') { // later versions may be longer
		return Context{}, false
	}
	ok = lowerHex(c.Trace[:], text[traceAt:parentAt-1]) && lowerHex(c.Parent[:], text[parentAt:flagsAt-1]) &&
		lowerHex(one[:], text[flagsAt:lengthV0]) && c.Trace != TraceID{} && c.Parent != SpanID{}
	if !ok {
		return Context{}, false
	}
	c.flags = one[0] & (flagSampled | flagRandom)
	return c, true
}

// lowerHex decodes lower-case digits, as the standard requires.
func lowerHex(into []byte, digits string) bool {
	for i := range len(digits) {
		if 'A' <= digits[i] && digits[i] <= 'F' {
			return false
		}
	}
	_, err := hex.Decode(into, []byte(digits))
	return err == nil
}

// Traceparent returns the header for the upstream. Its parent is the proxy's span if it is
// sent, and otherwise the caller's.
func (c Context) Traceparent() string {
	parent := c.Span
	if parent == (SpanID{}) {
		parent = c.Parent
	}
	text := make([]byte, 0, lengthV0)
	text = append(text, "00-"...)
	text = hex.AppendEncode(text, c.Trace[:])
	text = append(text, '-')
	text = hex.AppendEncode(text, parent[:])
	text = append(text, '-')
	return string(hex.AppendEncode(text, []byte{c.flags}))
}

// begin returns the beginning of a new trace.
func begin() Context {
	c := Context{flags: flagRandom}
	binary.NativeEndian.PutUint64(c.Trace[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(c.Trace[8:], random())
	return c
}

func newSpanID() (id SpanID) {
	binary.NativeEndian.PutUint64(id[:], random())
	return id
}

// random returns a number that is not 0, as the zero identifiers are invalid. Identifiers must
// differ, but need not be secret.
func random() uint64 { return max(1, rand.Uint64()) }
