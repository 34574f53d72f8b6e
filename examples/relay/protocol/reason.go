package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A reason begins with one of these words and a colon. Programs distinguish the reasons of OK and
// CLOSED by the word.
const (
	Duplicate   = "duplicate"    // the relay has the event
	RateLimited = "rate-limited" // too much at once: come back later
	Invalid     = "invalid"      // the message is wrong
	Failed      = "error"        // the relay cannot do this now
)

// Reason returns a reason of OK or CLOSED: the prefix, a colon, and a text for people.
func Reason(prefix, format string, args ...any) string {
	return prefix + ": " + fmt.Sprintf(format, args...)
}

// Errorf returns an error whose text is a Reason.
func Errorf(prefix, format string, args ...any) error {
	return errors.New(Reason(prefix, format, args...))
}

// Encode returns a message of the relay other than EVENT: its label, such as OK, and its
// elements. It escapes subscription ids, which go-nostr's envelopes do not.
func Encode(label string, elements ...any) []byte {
	text, _ := json.Marshal(append([]any{label}, elements...)) // strings, booleans and numbers never fail
	return text
}
