package store

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// ErrCorrupt is returned by a read of a malformed record.
var ErrCorrupt = errors.New("store: a record is corrupt")

// A record is the kind, the author, the signature, the number of tags, of all values and of
// hexadecimal values, the tags, and the content to the end. A tag is the number of its
// values, then each as its length and its bytes. A value of 64 hexadecimal digits, as in e
// and p tags, takes 32 bytes, and the lowest bit of its length marks it.

const fixed = 2 + 32 + 64 // the kind, the author and the signature

func recordOf(e *nostr.Event) []byte {
	b := binary.BigEndian.AppendUint16(make([]byte, 0, fixed+len(e.Content)+40*len(e.Tags)+8), uint16(e.Kind)) // enough for most records
	b = append(b, raw(e.PubKey)...)
	b = append(b, raw(e.Sig)...)
	values, hexadecimal := 0, 0
	for _, tag := range e.Tags {
		values += len(tag)
		for _, value := range tag {
			if isID(value) {
				hexadecimal++
			}
		}
	}
	b = binary.AppendUvarint(b, uint64(len(e.Tags)))
	b = binary.AppendUvarint(b, uint64(values))
	b = binary.AppendUvarint(b, uint64(hexadecimal))
	for _, tag := range e.Tags {
		b = binary.AppendUvarint(b, uint64(len(tag)))
		for _, value := range tag {
			b = appendValue(b, value)
		}
	}
	return append(b, e.Content...)
}

func appendValue(b []byte, value string) []byte {
	if isID(value) {
		b = binary.AppendUvarint(b, 32<<1|1)
		return append(b, raw(value)...)
	}
	b = binary.AppendUvarint(b, uint64(len(value))<<1)
	return append(b, value...)
}

func isID(value string) bool { return protocol.IsHex(value, 64) }

// decode returns the event of a record and its stamp. The event shares no memory with the
// record.
func decode(s stamp, record []byte) (e nostr.Event, err error) {
	if len(record) < fixed {
		return e, corrupt(s, "it has %d bytes", len(record))
	}
	e.CreatedAt, e.Kind = s.created(), int(binary.BigEndian.Uint16(record))
	r := reader{rest: string(record[fixed:])} // tags and content are parts of one string
	tags, values, hexadecimal := r.number(), r.number(), r.number()
	if most := uint64(len(r.rest)); tags > most || values > most || hexadecimal > most/32 { // each takes at least a byte
		return e, corrupt(s, "it cannot have %d tags with %d values, %d of them hexadecimal", tags, values, hexadecimal)
	}
	r.digits.Grow(2 * (32 + fixed + 32*int(hexadecimal))) // a contact list has hundreds: one allocation for all
	e.ID, e.PubKey, e.Sig = r.hex(s[8:]), r.hex(record[2:34]), r.hex(record[34:fixed])
	if tags > 0 {
		e.Tags = make(nostr.Tags, tags)
	}
	all := make([]string, 0, values)
	for i := range e.Tags {
		n := r.number()
		if n > values-uint64(len(all)) {
			return e, corrupt(s, "tag %d has %d values, more than all together", i, n)
		}
		first := len(all)
		for range n {
			all = append(all, r.value())
		}
		e.Tags[i] = slices.Clip(all[first:])
	}
	if r.short {
		return e, corrupt(s, "it ends in its tags")
	}
	e.Content = r.rest
	return e, nil
}

func corrupt(s stamp, format string, args ...any) error {
	return fmt.Errorf("%w: event %x: %s", ErrCorrupt, s[8:], fmt.Sprintf(format, args...))
}

// A reader takes numbers and values from the front of a string.
type reader struct {
	rest   string
	short  bool            // a read went past the end
	digits strings.Builder // of the hexadecimal values
}

func (r *reader) number() (n uint64) {
	for shift := 0; shift < 64 && len(r.rest) > 0; shift += 7 {
		digit := r.rest[0]
		r.rest = r.rest[1:]
		n |= uint64(digit&0x7f) << shift
		if digit < 0x80 {
			return n
		}
	}
	r.short = true
	return 0
}

func (r *reader) value() string {
	length := r.number()
	n := length >> 1
	if n > uint64(len(r.rest)) {
		r.short = true
		return ""
	}
	value := r.rest[:n]
	r.rest = r.rest[n:]
	if length&1 == 0 {
		return value
	}
	return r.hex([]byte(value))
}

// hex returns the hexadecimal digits of at most 64 bytes.
func (r *reader) hex(b []byte) string {
	var digits [2 * 64]byte
	first := r.digits.Len()
	r.digits.Write(hex.AppendEncode(digits[:0], b))
	return r.digits.String()[first:]
}
