package spans

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
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

// Level 2 of the standard defines these flags of traceparent.
const (
	flagSampled = 1
	flagRandom  = 2 // the trace's last seven bytes are random
)

// Sampled reports whether the span of the request is sent.
func (c Context) Sampled() bool { return c.flags&flagSampled != 0 }

// invalidVersion is the version that the standard forbids.
const invalidVersion = "ff"

// Parse parses the values of a traceparent header: version-trace-parent-flags. It reports false
// unless there is exactly one value, which is valid. Versions after 00 may have more fields after
// the flags.
func Parse(values []string) (c Context, ok bool) {
	if len(values) != 1 {
		return Context{}, false
	}
	parts := strings.SplitN(values[0], "-", 5) // strangers write it
	if len(parts) < 4 || parts[0] == invalidVersion || parts[0] == "00" && len(parts) > 4 {
		return Context{}, false
	}
	var version, flags [1]byte
	ok = lowerHex(version[:], parts[0]) && lowerHex(c.Trace[:], parts[1]) && lowerHex(c.Parent[:], parts[2]) && lowerHex(flags[:], parts[3])
	if !ok || c.Trace == (TraceID{}) || c.Parent == (SpanID{}) {
		return Context{}, false
	}
	c.flags = flags[0] & (flagSampled | flagRandom)
	return c, true
}

// lowerHex decodes lower-case digits, as the standard requires.
func lowerHex(into []byte, digits string) bool {
	if len(digits) != 2*len(into) || strings.ToLower(digits) != digits {
		return false
	}
	_, err := hex.Decode(into, []byte(digits))
	return err == nil
}

// Traceparent returns the header for the upstream. Its parent is the proxy's span if the request
// has one, and otherwise the caller's span.
func (c Context) Traceparent() string {
	parent := c.Span
	if parent == (SpanID{}) {
		parent = c.Parent
	}
	return "00-" + c.Trace.String() + "-" + parent.String() + "-" + hex.EncodeToString([]byte{c.flags})
}

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
