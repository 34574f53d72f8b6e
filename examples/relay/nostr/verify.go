package nostr

import (
	"crypto/sha256"
	"encoding/hex"

	gonostr "github.com/nbd-wtf/go-nostr"
)

// Hash returns the ID that the event should have.
func (e *Event) Hash() ID {
	size := 128 + len(e.Content) + 64*len(e.Tags)
	return sha256.Sum256(e.appendCanonical(make([]byte, 0, size)))
}

// Verify returns an error if the ID or the signature is wrong. The error's text is a Reason.
//
// It takes 0.17 ms of a processor, as much as parsing 50 events of a kilobyte (go test
// -bench 'Parse|Verify'): a relay limits the rate of verification.
func (e *Event) Verify() error {
	if e.Hash() != e.ID {
		return reasonf(Invalid, "the id is not the hash of the event")
	}
	ok, err := e.foreign().CheckSignature()
	if err != nil || !ok {
		return reasonf(Invalid, "the signature is not that of the author")
	}
	return nil
}

// foreign converts the event to go-nostr's type.
func (e *Event) foreign() *gonostr.Event {
	tags := make(gonostr.Tags, len(e.Tags))
	for i, tag := range e.Tags {
		tags[i] = gonostr.Tag(tag)
	}
	return &gonostr.Event{
		ID: e.ID.String(), PubKey: e.PubKey.String(), CreatedAt: gonostr.Timestamp(e.CreatedAt), Kind: e.Kind,
		Tags: tags, Content: e.Content, Sig: hex.EncodeToString(e.Sig[:]),
	}
}
