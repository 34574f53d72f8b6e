package nostr

import (
	"encoding/hex"
	"slices"
)

// An Event is published by a client and kept by a relay.
type Event struct {
	ID        ID       // equals Hash if the event is genuine
	PubKey    PubKey   // of the author
	CreatedAt int64    // Unix time in seconds
	Kind      int      // 0 to 65535
	Tags      []Tag    // in the author's order
	Content   string   // any text
	Sig       [64]byte // of the ID, by the author
}

// An ID is the SHA-256 of an event's canonical form.
type ID [32]byte

// String returns the hexadecimal form.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// A PubKey is the public key of an author.
type PubKey [32]byte

// String returns the hexadecimal form.
func (k PubKey) String() string { return hex.EncodeToString(k[:]) }

// A Tag is a name and its values.
type Tag []string

// Name returns the name, "" of an empty tag.
func (t Tag) Name() string { return t.at(0) }

// Value returns the first value, "" if there is none.
func (t Tag) Value() string { return t.at(1) }

func (t Tag) at(i int) string {
	if i < len(t) {
		return t[i]
	}
	return ""
}

// A Class determines which events of a kind a relay keeps.
type Class uint8

// The classes.
const (
	Regular     Class = 0 // all
	Replaceable Class = 1 // the newest of an author
	Addressable Class = 2 // the newest of an author with the same d tag
	Ephemeral   Class = 3 // none
)

// KindDeletion is the kind of a request to delete events of the same author.
const KindDeletion = 5

// KindAuth is the kind of an event that authenticates a client. It is not published.
const KindAuth = 22242

// Class returns the class of the event's kind.
func (e *Event) Class() Class { return classOf(e.Kind) }

func classOf(k int) Class {
	switch {
	case k == 0, k == 3, k >= 10_000 && k < 20_000:
		return Replaceable
	case k >= 20_000 && k < 30_000:
		return Ephemeral
	case k >= 30_000 && k < 40_000:
		return Addressable
	}
	return Regular
}

// Protected reports whether only the author may publish the event, having authenticated (NIP-70).
func (e *Event) Protected() bool {
	return slices.ContainsFunc(e.Tags, func(t Tag) bool { return len(t) == 1 && t[0] == "-" })
}

// first returns the value of the first tag of a name.
func (e *Event) first(name string) string {
	for _, t := range e.Tags {
		if t.Name() == name {
			return t.Value()
		}
	}
	return ""
}

// Replaces reports whether e replaces another version at the same address: the later one
// wins, and at the same second the one with the lower ID.
func (e *Event) Replaces(other *Event) bool {
	if e.CreatedAt != other.CreatedAt {
		return e.CreatedAt > other.CreatedAt
	}
	return string(e.ID[:]) < string(other.ID[:])
}
