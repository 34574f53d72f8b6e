package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"github.com/nbd-wtf/go-nostr"
)

// The first byte of a key is its type. A stamp is 40 bytes: the inverted time and the ID, so
// that the order of keys is newest first, and by ascending ID within a second, as the
// protocol demands.
//
//	key                              value
//	inRecords   stamp                record
//	inIDs       ID                   inverted time
//	inAuthors   author, stamp        kind
//	inBoth      author, kind, stamp  kind
//	inKinds     kind, stamp          kind
//	inTags      letter, hash, stamp  kind
//	inVersions  address              stamp of the newest version that came
//
// An author takes 32 bytes, a kind 2. A hash is 16 bytes of the SHA-256 of a value of any
// length. An address is the kind, the author and the hash of the d tag.
const (
	inRecords  = 'r'
	inIDs      = 'i'
	inAuthors  = 'a'
	inBoth     = 'b'
	inKinds    = 'k'
	inTags     = 't'
	inVersions = 'v'
)

// maxIndexed is the number of tag values indexed for an event. A new version of a contact
// list removes as many keys as it adds, which makes 4,000 in a transaction: see
// leastMemtable.
const maxIndexed = 2000

// A stamp orders events.
type stamp [8 + 32]byte

func stampOf(e *nostr.Event) (s stamp) {
	binary.BigEndian.PutUint64(s[:], invert(e.CreatedAt))
	copy(s[8:], raw(e.ID))
	return s
}

func (s stamp) created() nostr.Timestamp {
	return nostr.Timestamp(binary.BigEndian.Uint64(s[:]) ^ math.MaxInt64)
}

// before reports whether s is of a newer event.
func (s stamp) before(other stamp) bool { return bytes.Compare(s[:], other[:]) < 0 }

// invert maps later times to smaller numbers, including times before 1970.
func invert(created nostr.Timestamp) uint64 { return uint64(created) ^ math.MaxInt64 }

func key(table byte, parts ...[]byte) []byte {
	k := make([]byte, 1, 80) // most are shorter
	k[0] = table
	for _, part := range parts {
		k = append(k, part...)
	}
	return k
}

// raw returns the bytes of an ID or a key. Package protocol has checked its digits.
func raw(digits string) []byte {
	b, _ := hex.DecodeString(digits)
	return b
}

func bytesOf(kind int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(kind)) }

func hash(value string) []byte {
	sum := sha256.Sum256([]byte(value))
	return sum[:16]
}

// addressKey returns the key by which all versions of a replaceable or addressable event are found,
// and false for other events.
func addressKey(e *nostr.Event) (k []byte, versioned bool) {
	d := ""
	if e.IsAddressable() { // Tags.GetD would pass over a first tag without a value
		if i := slices.IndexFunc(e.Tags, func(t nostr.Tag) bool { return t.Key() == "d" }); i >= 0 {
			d = e.Tags[i].Value()
		}
	}
	return key(inVersions, bytesOf(e.Kind), raw(e.PubKey), hash(d)), e.IsAddressable() || e.IsReplaceable()
}

// indexKeys returns the keys of an event whose values are its kind.
func indexKeys(e *nostr.Event) [][]byte {
	s, kind, author := stampOf(e), bytesOf(e.Kind), raw(e.PubKey)
	keys := [][]byte{
		key(inAuthors, author, s[:]),
		key(inBoth, author, kind, s[:]),
		key(inKinds, kind, s[:]),
	}
	for _, prefix := range tagPrefixes(e) {
		keys = append(keys, slices.Concat(prefix, s[:]))
	}
	return keys
}

// tagPrefixes returns the ranges of the tag index that contain an event.
func tagPrefixes(e *nostr.Event) (prefixes [][]byte) {
	for _, tag := range e.Tags {
		if len(tag) < 2 || len(tag[0]) != 1 {
			continue
		}
		prefixes = append(prefixes, tagPrefix(tag[0], tag[1]))
		if len(prefixes) == maxIndexed {
			break
		}
	}
	return prefixes
}

func tagPrefix(letter, value string) []byte { return key(inTags, []byte(letter), hash(value)) }
