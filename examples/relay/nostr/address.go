package nostr

import (
	"strconv"
	"strings"
)

// An Address identifies a replaceable or addressable event across versions: "kind:pubkey:d".
type Address struct {
	Kind   int    // of a replaceable or addressable event
	PubKey PubKey // of the author
	D      string // value of the d tag, "" of a replaceable event
}

// String returns the form of an a tag.
func (a Address) String() string {
	return strconv.Itoa(a.Kind) + ":" + a.PubKey.String() + ":" + a.D
}

// ParseAddress reads the form of an a tag, and reports whether it is the address of a replaceable
// or addressable event.
func ParseAddress(text string) (a Address, ok bool) {
	kind, rest, _ := strings.Cut(text, ":")
	author, d, _ := strings.Cut(rest, ":")
	number, err := strconv.ParseUint(kind, 10, 16)
	if err != nil || !decodeHex(a.PubKey[:], author) {
		return Address{}, false
	}
	a.Kind, a.D = int(number), d
	class := classOf(a.Kind)
	return a, class == Addressable || class == Replaceable && d == ""
}

// Address returns the address of a replaceable or addressable event, and whether it has one.
func (e *Event) Address() (Address, bool) {
	switch e.Class() {
	case Replaceable:
		return Address{Kind: e.Kind, PubKey: e.PubKey}, true
	case Addressable:
		return Address{Kind: e.Kind, PubKey: e.PubKey, D: e.first("d")}, true
	}
	return Address{}, false
}
