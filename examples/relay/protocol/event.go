package protocol

import (
	"strconv"

	"github.com/nbd-wtf/go-nostr"
)

// Verify returns an error if the ID or the signature is wrong. The error's text is a Reason.
//
// It takes 0.17 ms of a processor, as much as parsing a dozen events of a kilobyte: a relay
// limits the rate of verification.
func Verify(e *nostr.Event) error {
	if !e.CheckID() {
		return Errorf(Invalid, "the id is not the hash of the event")
	}
	if ok, err := e.CheckSignature(); err != nil || !ok {
		return Errorf(Invalid, "the signature is not that of the author")
	}
	return nil
}

func first(e *nostr.Event, name string) string {
	for _, t := range e.Tags {
		if t.Key() == name {
			return t.Value()
		}
	}
	return ""
}

// An Address identifies a replaceable or addressable event across versions: "kind:pubkey:d".
type Address struct {
	Kind   int    // of a replaceable or addressable event
	PubKey string // of the author
	D      string // value of the d tag, "" of a replaceable event
}

// String returns the form of an a tag.
func (a Address) String() string { return strconv.Itoa(a.Kind) + ":" + a.PubKey + ":" + a.D }

// AddressOf returns the address of a replaceable or addressable event, and whether it has one.
func AddressOf(e *nostr.Event) (Address, bool) {
	switch {
	case e.IsReplaceable():
		return Address{Kind: e.Kind, PubKey: e.PubKey}, true
	case e.IsAddressable():
		return Address{Kind: e.Kind, PubKey: e.PubKey, D: first(e, "d")}, true
	}
	return Address{}, false
}
