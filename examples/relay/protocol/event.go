package protocol

import "github.com/nbd-wtf/go-nostr"

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
